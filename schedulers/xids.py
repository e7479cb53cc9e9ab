"""Meanings of the NVIDIA driver's error codes (XID): whose fault each is, and what to do.

Pure. After NVIDIA's XID catalogue; the node agent has a table of its own that a site may extend.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portal.core.messages import Message


class XidClass(StrEnum):
    """What an XID says about the GPU."""

    PROGRAM = "program"  # the program's own fault
    SEQUEL = "sequel"  # follows another error, or the end of a program
    WATCH = "watch"  # alone no reason to act
    MEMORY = "memory"  # memory was repaired; a reset completes it
    LINK = "link"  # NVLink 5: the subcode decides
    RESET = "reset"  # unusable until it is reset
    REBOOT = "reboot"  # unusable until its node is rebooted
    REPAIR = "repair"  # unusable until it is repaired

    @property
    def is_hardware(self) -> bool:
        """Whether the error can end a program that did nothing wrong."""
        return self not in {XidClass.PROGRAM, XidClass.SEQUEL, XidClass.WATCH}


@dataclass(frozen=True)
class Xid:
    """One code with its class and meaning."""

    code: int
    kind: XidClass
    meaning: str


_P, _R = XidClass.PROGRAM, XidClass.RESET
_TABLE: tuple[tuple[int, XidClass, str], ...] = (
    (13, _P, Message("graphics engine exception")),
    (31, _P, Message("GPU memory page fault")),
    (43, _P, Message("GPU stopped processing")),
    (45, XidClass.SEQUEL, Message("clean-up after the end of a program")),
    (46, _R, Message("GPU stopped processing and needs a reset")),
    (48, _R, Message("double-bit ECC error")),
    (54, XidClass.WATCH, Message("auxiliary power is not connected")),
    (62, _R, Message("internal micro-controller halt")),
    (63, XidClass.MEMORY, Message("a memory row was remapped")),
    (64, XidClass.REPAIR, Message("remapping a memory row failed")),
    (68, _P, Message("video processor exception")),
    (69, _P, Message("graphics engine class error")),
    (74, _R, Message("NVLink error", context="GPU error")),
    (79, XidClass.REBOOT, Message("GPU has fallen off the bus")),
    (92, XidClass.MEMORY, Message("high rate of single-bit ECC errors")),
    (94, XidClass.MEMORY, Message("contained memory error")),
    (95, _R, Message("uncontained memory error")),
    (109, _R, Message("context switch timeout")),
    (119, _R, Message("GPU system processor (GSP) timeout")),
    (120, _R, Message("GPU system processor (GSP) error")),
    (136, _R, Message("NVLink training failed")),
    (137, _P, Message("NVLink access fault")),
    (140, _R, Message("unrecovered ECC error")),
    (143, _R, Message("GPU initialization failed")),
    *(
        (code, XidClass.LINK, Message("NVLink 5 error", context="GPU error"))
        for code in range(144, 151)
    ),
    (156, XidClass.MEMORY, Message("memory was retired")),
    (157, XidClass.REPAIR, Message("retiring memory failed")),
    (158, _R, Message("fatal GPU timeout")),
    (171, _R, Message("double-bit ECC error in DRAM")),
    (172, _R, Message("double-bit ECC error in SRAM")),
)
XIDS = {code: Xid(code, kind, meaning) for code, kind, meaning in _TABLE}
# Words of the agent's table, for codes that only a site's own table has.
_OF_AGENT = {"drain": XidClass.RESET, "program": XidClass.PROGRAM}


def xid_of(code: int, meaning: str = "", action: str = "") -> Xid:
    """Return what is known about a code; `meaning` and `action` are the agent's."""
    return XIDS.get(code) or Xid(
        code,
        _OF_AGENT.get(action, XidClass.WATCH),
        meaning or Message("see NVIDIA's XID catalog"),
    )
