"""Classify why a command ended, from its exit status and output.

Pure, and shared by the backends.
"""

from __future__ import annotations

import re
import signal as signals
from dataclasses import dataclass

from portal.core.messages import Message
from schedulers.states import Reason

_NOT_FOUND = re.compile(r"(?m)^.*?: (?:line \d+: )?(\S+): (?:command )?not found\s*$")
_DENIED = re.compile(r"(?m)^.*: Permission denied\s*$")
_GPU_MEMORY = re.compile(
    r"(?m)^.*(?:(?:CUDA|HIP) out of memory|CUDA_ERROR_OUT_OF_MEMORY|torch(?:\.cuda)?\.OutOfMemoryError"
    r"|CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED: Out of memory).*$"
)
_MEMORY = re.compile(
    r"(?m)^.*(?:OutOfMemoryError|^MemoryError|Cannot allocate memory|std::bad_alloc).*$"
)
_KERNEL = re.compile(
    r"(?m)^.*(?:no kernel image is available for execution|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU).*$"
)
_DISK = re.compile(r"(?m)^.*(?:No space left on device|Disk quota exceeded).*$")
_PYTHON = re.compile(r"(?m)^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)(?:: .*)?$")
# the location of the script on the node means nothing to users
_SCRIPT = re.compile(r"^\S*/script: ")
# What the scripts of sessions print (`sessions.templates`)
_MISSING = re.compile(r"(?m)^muster: (\S+) is not installed here$")
QUOTE = 500


@dataclass(frozen=True)
class ProcessEnd:
    """How a process ended.

    `asked` is why Muster stopped it: "", "cancel" or "time". `peak` and `limit` are in bytes.
    """

    exit_code: int | None
    signal: int | None
    tail: str = ""
    asked: str = ""
    peak: int = 0
    limit: int = 0
    is_over_memory: bool = False
    time_limit: float | None = None


@dataclass(frozen=True)
class EndReason:
    reason: Reason
    evidence: str


def missing_program(text: str) -> str:
    """Return the program that the script of a session has not found; "" if it says nothing of one."""
    found = _MISSING.search(text)
    return found[1] if found else ""


def headline_of(reason: Reason, evidence: str) -> str:
    """Return in one sentence why a job ended, for the user."""
    if reason is Reason.COMMAND_NOT_FOUND and (program := missing_program(evidence)):
        return Message("{program} is not installed where the session ran.", program=program)
    return reason.headline


def classify(end: ProcessEnd) -> EndReason:
    """Return the reason of an end with the evidence for it."""
    if end.is_over_memory:
        return EndReason(
            Reason.OUT_OF_MEMORY,
            Message(
                "It used {peak} of {limit} and was stopped.",
                peak=_size(end.peak),
                limit=_size(end.limit),
            ),
        )
    if end.asked == "cancel":
        return EndReason(Reason.CANCELED, "")
    if end.exit_code == 0 and not end.signal:
        return EndReason(Reason.COMPLETED, "")
    if end.asked == "time":
        return EndReason(
            Reason.TIME_LIMIT,
            Message(
                "It ran for its whole limit of {time_limit} s.", time_limit=f"{end.time_limit:g}"
            ),
        )
    return _by_text(end) or _by_number(end)


def _by_text(end: ProcessEnd) -> EndReason | None:
    for reason, pattern, codes in (
        (Reason.COMMAND_NOT_FOUND, _NOT_FOUND, {127}),
        (Reason.NOT_EXECUTABLE, _DENIED, {126}),
        (Reason.GPU_OUT_OF_MEMORY, _GPU_MEMORY, None),
        (Reason.OUT_OF_MEMORY, _MEMORY, None),
        (Reason.DISK_FULL, _DISK, None),
        (Reason.NO_KERNEL_IMAGE, _KERNEL, None),
    ):
        if codes and end.exit_code not in codes:
            continue
        found = list(pattern.finditer(end.tail))
        if found:
            return EndReason(reason, _SCRIPT.sub("", found[-1][0].strip())[:QUOTE])
    return None


def _by_number(end: ProcessEnd) -> EndReason:
    signal = end.signal or (
        end.exit_code - 128 if end.exit_code and 128 < end.exit_code < 128 + 65 else None
    )
    if end.exit_code == 127:
        return EndReason(Reason.COMMAND_NOT_FOUND, _last_line(end.tail))
    if end.exit_code == 126:
        return EndReason(Reason.NOT_EXECUTABLE, _last_line(end.tail))
    if signal:
        return EndReason(
            Reason.KILLED_BY_SIGNAL,
            Message.joined(" ", (_signal_text(signal), _last_line(end.tail))),
        )
    code = Message("Exit code {code}.", code=end.exit_code)
    return EndReason(Reason.USER_ERROR, Message.joined(" ", (code, _last_line(end.tail))))


def _last_line(tail: str) -> str:
    """Return the most telling line: the last exception, else the last line that is not blank."""
    exceptions = _PYTHON.findall(tail[-8000:])
    if exceptions:
        return str(exceptions[-1])[:QUOTE]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return _SCRIPT.sub("", lines[-1])[:QUOTE] if lines else ""


def _signal_text(number: int) -> Message:
    try:
        return Message("Ended by {signal}.", signal=signals.Signals(number).name)
    except ValueError:
        return Message("Ended by signal {number}.", number=number)


def _size(number: int) -> str:
    return f"{number / (1 << 30):.1f} GiB" if number >= 1 << 30 else f"{number / (1 << 20):.0f} MiB"
