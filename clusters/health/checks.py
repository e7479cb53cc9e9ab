"""The checks with their defaults, and the settings of one cluster.

Pure. Thresholds after NVIDIA's documentation of NVML, DCGM and XIDs; see docs/design/gpus.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers.xids import XIDS, XidClass


class Action(StrEnum):
    """What a finding does, weakest first.

    DRAIN takes no new jobs until the finding is gone; QUARANTINE until an operator returns the node.
    """

    OFF = "off"
    WARN = "warn"
    DRAIN = "drain"
    QUARANTINE = "quarantine"

    @property
    def rank(self) -> int:
        return list(Action).index(self)


class HealthState(StrEnum):
    """Health of a node, best first."""

    HEALTHY = "healthy"
    WARNING = "warning"
    DRAINING = "draining"
    QUARANTINED = "quarantined"

    @property
    def is_out(self) -> bool:
        """Whether the node is out of service because of its health."""
        return self in {HealthState.DRAINING, HealthState.QUARANTINED}


STATE_OF = {
    Action.WARN: HealthState.WARNING,
    Action.DRAIN: HealthState.DRAINING,
    Action.QUARANTINE: HealthState.QUARANTINED,
}


@dataclass(frozen=True)
class HealthCheck:
    """One check.

    `metric` is a series of the agent that is compared with `threshold`; `xids` are the classes of
    XIDs that it reports. Others are measured by `findings`. `minutes` is how long a finding must last
    before it counts, `returns` how many minutes after its end it is dropped; 0: an operator returns
    the node. `why` has the parameters of the finding.
    """

    code: str
    label: str
    why: str
    advice: str
    action: Action
    is_critical: bool = True
    metric: str = ""
    labels: str = ""  # of the metric, beside the GPU: "counter=volatile"
    threshold: float | None = None
    unit: str = ""
    minutes: int = 0
    returns: int = 10
    xids: tuple[XidClass, ...] = ()

    @property
    def needs_operator(self) -> bool:
        return self.action is Action.QUARANTINE or (
            self.action is Action.DRAIN and not self.returns
        )


_RESET = Message(
    "Wait until the jobs of the node have ended, reset the GPU with nvidia-smi --gpu-reset or reboot "
    "the node, then return it to service."
)
_REBOOT = Message(
    "Reboot the node. If it happens again, reseat the GPU or contact the vendor; then return the node."
)
_REPAIR = Message("The GPU needs a repair: contact the vendor, then return the node.")
_IDLE = Message("The GPU remains usable. Reset it when it is idle.")
_COOL = Message("Check fans, airflow and the power supply of the node.")
_XID = Message("XID {xid} ({meaning})", context="text, clusters")

CHECKS = (
    HealthCheck(
        "xid_reboot",
        Message("XID: lost from the bus"),
        _XID,
        _REBOOT,
        Action.QUARANTINE,
        xids=(XidClass.REBOOT,),
        returns=0,
    ),
    HealthCheck(
        "xid_repair",
        Message("XID: repair needed"),
        _XID,
        _REPAIR,
        Action.QUARANTINE,
        xids=(XidClass.REPAIR,),
        returns=0,
    ),
    HealthCheck(
        "xid_reset",
        Message("XID: reset needed"),
        _XID,
        _RESET,
        Action.DRAIN,
        xids=(XidClass.RESET,),
        returns=0,
    ),
    HealthCheck(
        "xid_memory",
        Message("XID: memory repaired"),
        _XID,
        _IDLE,
        Action.WARN,
        is_critical=False,
        xids=(XidClass.MEMORY, XidClass.LINK),
        returns=1440,
    ),
    HealthCheck(
        "recovery",
        Message("Driver asks for recovery"),
        Message("the driver asks for: {action}"),
        _RESET,
        Action.DRAIN,
        metric="gpu.recovery",
        threshold=1,
    ),
    HealthCheck(
        "rows_failed",
        Message("Row remapping failed"),
        Message("remapping a memory row failed"),
        _REPAIR,
        Action.QUARANTINE,
        metric="gpu.rows.failed",
        threshold=1,
        returns=0,
    ),
    HealthCheck(
        "rows_pending",
        Message("Row remapping pending"),
        Message("replaced memory rows wait for a reset"),
        _IDLE,
        Action.WARN,
        is_critical=False,
        metric="gpu.rows.pending",
        threshold=1,
    ),
    HealthCheck(
        "ecc",
        Message("Uncorrected ECC errors"),
        Message("{value} uncorrected ECC errors since the driver was loaded"),
        _RESET,
        Action.DRAIN,
        metric="gpu.ecc.uncorrected",
        labels="volatile",
        threshold=1,
        unit="errors",
    ),
    HealthCheck(
        "nvlink_down",
        Message("NVLink down", context="health check"),
        Message("{found} of {expected} NVLinks are up"),
        _RESET,
        Action.DRAIN,
        minutes=2,
    ),
    HealthCheck(
        "nvlink_errors",
        Message("NVLink errors", context="health check"),
        Message("{value} NVLink errors per second"),
        _RESET,
        Action.DRAIN,
        metric="gpu.nvlink.errors",
        threshold=100,
        unit="1/s",
        minutes=2,
    ),
    HealthCheck(
        "thermal",
        Message("Thermal slowdown by hardware"),
        Message("the hardware has slowed the GPU down because of heat"),
        _COOL,
        Action.DRAIN,
        metric="gpu.throttle",
        labels="hw_thermal",
        threshold=1,
        minutes=10,
        returns=30,
    ),
    HealthCheck(
        "power_brake",
        Message("Power brake", context="health check"),
        Message("the power supply has slowed the GPU down"),
        _COOL,
        Action.DRAIN,
        metric="gpu.throttle",
        labels="power_brake",
        threshold=1,
        minutes=10,
        returns=30,
    ),
    HealthCheck(
        "temperature",
        Message("Temperature", context="health check"),
        Message("{value} °C", context="health check"),
        _COOL,
        Action.WARN,
        is_critical=False,
        metric="gpu.temperature",
        threshold=90,
        unit="°C",
        minutes=5,
    ),
    HealthCheck(
        "device_lost",
        Message("GPU lost", context="health check"),
        Message("the GPU doesn't respond or is no longer reported"),
        _REBOOT,
        Action.DRAIN,
        minutes=1,
    ),
    HealthCheck(
        "gpu_count",
        Message("Number of GPUs", context="health check"),
        Message("{found} of {expected} expected GPUs respond"),
        _REBOOT,
        Action.WARN,
        minutes=5,
    ),
    HealthCheck(
        "driver",
        Message("Driver version", context="health check"),
        Message("driver {found}; most nodes with this GPU have {expected}"),
        Message("Install the same driver on all nodes of this model."),
        Action.WARN,
        is_critical=False,
        minutes=30,
    ),
    HealthCheck(
        "silent",
        Message("Agent silent", context="health check"),
        Message("the agent has not reported for {value} minutes"),
        Message("Check the service muster-agent on the node and its way to the portal."),
        Action.WARN,
        is_critical=False,
        threshold=10,
        unit="min",
        returns=2,
    ),
)
OPERATOR = "operator"  # code of a quarantine by a person
BY_CODE = {check.code: check for check in CHECKS}
RECOVERY = {  # values of NVML field 230
    1: Message("reset of the GPU"),
    2: Message("reboot of the node"),
    3: Message("end of peer-to-peer traffic"),
    4: Message("drain and reset", context="part of a sentence"),
    5: Message("recovery of the IMEX domain"),
    6: Message("reset of the bus"),
    7: Message("reboot of the system"),
}
_LONGEST = 30 * 1440  # minutes
_NUMBERS = {"threshold": (0, 1e9), "minutes": (0, _LONGEST), "returns": (0, _LONGEST)}


def checks_with(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, HealthCheck]:
    """Return all checks by code, with the settings of a cluster."""
    found = {}
    for check in CHECKS:
        values = {
            k: v for k, v in changes.get(check.code, {}).items() if k in ("action", *_NUMBERS)
        }
        if "action" in values:
            values["action"] = Action(values["action"])
        found[check.code] = replace(check, **values)
    return found


def checked_changes(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return valid settings, without those that equal the defaults. Raises InvalidInput."""
    found: dict[str, dict[str, Any]] = {}
    for code, values in given.items():
        check, at = BY_CODE.get(code), f"checks.{str(code)[:40]}"
        if check is None:
            raise InvalidInput.at(at, "is not a check")
        if not isinstance(values, Mapping):
            raise InvalidInput.at(at, "must be an object")
        own = {
            name: parsed
            for name, value in values.items()
            if (parsed := _checked(check, name, value, f"{at}.{str(name)[:40]}"))
            != getattr(check, name)
        }
        after = replace(check, **own)
        if after.action is Action.WARN and not after.returns:
            raise InvalidInput.at(f"{at}.returns", "must be at least a minute for a warning")
        if own:
            found[code] = own
    return found


def _checked(check: HealthCheck, name: str, value: Any, at: str) -> Any:
    if name == "action":
        if value not in list(Action):
            raise InvalidInput.at(at, f"must be one of {', '.join(Action)}")
        return Action(value)
    if name not in _NUMBERS or (name == "threshold" and check.threshold is None):
        raise InvalidInput.at(at, "is not a setting of this check")
    low, high = _NUMBERS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high or (name != "threshold" and value != int(value)):
        raise InvalidInput.at(at, f"must be a number from {low} to {high:g}")
    return value if name == "threshold" else int(value)


def check_of_xid(code: int, kind: XidClass) -> HealthCheck | None:
    """Return the check that reports a code; None for codes that say nothing about the hardware."""
    return next((check for check in CHECKS if kind in check.xids), None)


def why_text(code: str, gpu: int | None, params: Mapping[str, Any]) -> Message:
    """Return why, for people: "GPU 3: XID 79 (GPU has fallen off the bus)"."""
    if code == OPERATOR:
        return Message("{reason}", reason=params.get("reason", ""))
    check = BY_CODE.get(code)
    if check is None:
        return Message("{code}", code=code)
    shown = dict(params)
    if "xid" in shown:
        known = XIDS.get(shown["xid"])
        shown["meaning"] = known.meaning if known else shown.get("meaning", "")
    if code == "recovery":
        shown["action"] = RECOVERY.get(int(shown.get("value", 0)), shown.get("value", ""))
    if isinstance(shown.get("value"), float):
        shown["value"] = f"{shown['value']:g}"
    try:
        text = Message(check.why).format(**shown)
    except KeyError:  # stored by another version
        text = Message(check.label)
    return (
        text
        if gpu is None
        else Message("GPU {gpu}: {text}", context="text, clusters", gpu=gpu, text=text)
    )


def advice_for(code: str) -> str:
    """Return what to do about a finding."""
    check = BY_CODE.get(code)
    if code == OPERATOR:
        return Message("An operator took the node out of service. Return it when the work is done.")
    return check.advice if check else ""


def stopped_text(facts: Mapping[str, Any]) -> Message:
    """Return why rules stopped acting."""
    template = (
        Message(
            "The rules wanted to drain {wanted} more nodes and may drain {most} in an hour; {out} were "
            "drained within the last one."
        )
        if facts.get("limit") == "hour"
        else Message(
            "The rules wanted to drain {wanted} more nodes and may drain {most} of this cluster; {out} "
            "are drained."
        )
    )
    return template.format(**{name: facts.get(name, "?") for name in ("wanted", "most", "out")})
