"""Translate the fields of dcgm-exporter to our metrics. Pure functions.

Prometheus has the same names and labels, so both sources use this.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from clusters.services.devices import MOST_GPUS
from monitoring.agent_package import is_possible
from portal.series import Point

MIB = 1 << 20
# DCGM marks missing values with numbers from 2^47 (floats) and 2^63 - 16 (integers).
BLANK = 2.0**47
PREFIX = "DCGM_FI_"


class Field(NamedTuple):
    """How a field becomes a metric.

    `is_counter`: the highest value of a period counts, not the mean. `is_shared`: a MIG instance
    repeats the value of its GPU.
    """

    metric: str
    unit: str
    factor: float = 1.0
    is_counter: bool = False
    is_shared: bool = True
    labels: Mapping[str, str] = {}


def _of_instance(metric: str, unit: str, factor: float = 1.0) -> Field:
    return Field(metric, unit, factor, is_shared=False)


def _count(metric: str, unit: str = "count", **labels: str) -> Field:
    return Field(metric, unit, is_counter=True, labels=labels)


FIELDS: dict[str, Field] = {
    "DCGM_FI_DEV_GPU_UTIL": Field("gpu.utilization", "ratio", 0.01),
    "DCGM_FI_DEV_MEM_COPY_UTIL": Field("gpu.memory.utilization", "ratio", 0.01),
    "DCGM_FI_DEV_FB_USED": _of_instance("gpu.memory.used", "bytes", MIB),
    "DCGM_FI_DEV_POWER_USAGE": Field("gpu.power", "W"),
    "DCGM_FI_DEV_GPU_TEMP": Field("gpu.temperature", "degC"),
    "DCGM_FI_DEV_MEMORY_TEMP": Field("gpu.memory.temperature", "degC"),
    "DCGM_FI_DEV_SM_CLOCK": Field("gpu.clock.sm", "Hz", 1e6),
    "DCGM_FI_DEV_MEM_CLOCK": Field("gpu.clock.memory", "Hz", 1e6),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": _of_instance("gpu.engine.active", "ratio"),
    "DCGM_FI_PROF_SM_ACTIVE": _of_instance("gpu.sm.active", "ratio"),
    "DCGM_FI_PROF_SM_OCCUPANCY": _of_instance("gpu.sm.occupancy", "ratio"),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": _of_instance("gpu.tensor.active", "ratio"),
    "DCGM_FI_PROF_DRAM_ACTIVE": _of_instance("gpu.memory.bandwidth", "ratio"),
    "DCGM_FI_PROF_PCIE_TX_BYTES": Field("gpu.pcie.sent", "bytes/s"),
    "DCGM_FI_PROF_PCIE_RX_BYTES": Field("gpu.pcie.received", "bytes/s"),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": Field("gpu.nvlink.sent", "bytes/s"),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": Field("gpu.nvlink.received", "bytes/s"),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _count("gpu.ecc.corrected", counter="volatile"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _count("gpu.ecc.uncorrected", counter="volatile"),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": _count("gpu.ecc.corrected", counter="aggregate"),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": _count("gpu.ecc.uncorrected", counter="aggregate"),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": _count("gpu.rows.corrected"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": _count("gpu.rows.uncorrected"),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": _count("gpu.rows.pending", "ratio"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": _count("gpu.rows.failed", "ratio"),
    "DCGM_FI_DEV_XID_ERRORS": _count("gpu.xid", "code"),
}
# Fields that are not one metric
_FREE, _RESERVED = "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED"
_MEMORY = (_FREE, _RESERVED, "DCGM_FI_DEV_FB_USED")
_THROTTLE = ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")
READ = frozenset({*FIELDS, *_MEMORY, *_THROTTLE})
# As the agent names them; idle and clocks that a user set are no harm.
THROTTLE_REASONS = {
    0x04: "power_cap",
    0x08: "hw_slowdown",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "power_brake",
}
_INDEX = re.compile(r"[0-9]{1,2}")  # of a GPU of a node, and of an instance of a GPU
_HOSTS = ("Hostname", "hostname", "node", "kubernetes_node", "instance")


class DcgmSample(NamedTuple):
    """One value of a field, at a time in Unix milliseconds."""

    field: str
    labels: Mapping[str, str]
    at_ms: int
    value: float


@dataclass
class HostReport:
    """What was read about the GPUs of one host: points, GPUs as agents describe them, driver."""

    points: dict[tuple[str, int], Point] = field(default_factory=dict)
    gpus: dict[str, dict[str, Any]] = field(default_factory=dict)
    driver: str = ""

    def add(
        self, metric: str, labels: Mapping[str, str], at_ms: int, value: float, unit: str
    ) -> None:
        if not is_possible(value, unit):
            return
        # An exporter repeats a GPU for each job on it.
        point = Point(metric, dict(labels), at_ms, value, unit=unit)
        self.points[point.key, at_ms] = point


def samples_of_text(text: str, at_ms: int) -> Iterator[DcgmSample]:
    """Yield the known fields of an exporter's answer. Raises ValueError if it is malformed."""
    lines = (
        line
        for line in text.splitlines()
        if line.startswith(PREFIX) and line.partition("{")[0].split(" ", 1)[0] in READ
    )
    try:
        for family in text_string_to_metric_families("\n".join(lines) + "\n"):
            for one in family.samples:
                yield DcgmSample(one.name, one.labels, at_ms, float(one.value))
    except IndexError as error:  # of the parser, for some labels
        raise ValueError("malformed labels") from error


def reports_of(samples: Iterable[DcgmSample], host: str = "") -> dict[str, HostReport]:
    """Group samples by host; `host` stands for all hosts if it is given."""
    reports: dict[str, HostReport] = defaultdict(HostReport)
    memory: dict[tuple[str, str, str, int], dict[str, float]] = defaultdict(dict)
    for one in samples:
        where, gpu = host or host_of(one.labels), one.labels.get("gpu", "")
        part = one.labels.get("GPU_I_ID", "")
        is_named = _INDEX.fullmatch(gpu) and (not part or _INDEX.fullmatch(part))
        if not where or not is_named or not is_known(one.value):
            continue
        report = reports[where]
        _describe(report, one.labels, gpu, part)
        if one.field in _MEMORY:
            memory[where, gpu, part, one.at_ms][one.field] = one.value
        if one.field in _THROTTLE:
            _add_throttle(report, gpu, one)
        elif known := FIELDS.get(one.field):
            labels = {"gpu": gpu} | ({"mig": part} if part and not known.is_shared else {})
            report.add(
                known.metric,
                {**labels, **known.labels},
                one.at_ms,
                one.value * known.factor,
                known.unit,
            )
    for (where, gpu, part, at), values in memory.items():
        if len(values) >= 2 and _FREE in values:
            _add_total(reports[where], gpu, part, at, sum(values.values()) * MIB)
    return dict(reports)


def host_of(labels: Mapping[str, str]) -> str:
    """Return the host that an exporter names, without a port."""
    found = next((labels[name] for name in _HOSTS if labels.get(name)), "")
    return found.partition(":")[0]


def is_known(value: float) -> bool:
    return isfinite(value) and abs(value) < BLANK


def _describe(report: HostReport, labels: Mapping[str, str], gpu: str, part: str) -> None:
    uuid = labels.get("UUID", "")
    if not uuid or (uuid not in report.gpus and len(report.gpus) >= MOST_GPUS):
        return
    report.driver = labels.get("DCGM_FI_DRIVER_VERSION", report.driver)
    if uuid not in report.gpus:
        report.gpus[uuid] = {
            "index": int(gpu),
            "uuid": uuid,
            "model": labels.get("modelName", ""),
            "memory": 0,
            "pci": labels.get("pci_bus_id", ""),
            "is_mig": bool(part),
            "mig": [],
        }
    parts = report.gpus[uuid]["mig"]
    name = f"{uuid}/{part}"  # the exporter does not tell the UUID of an instance
    if part and all(known["uuid"] != name for known in parts):
        profile = labels.get("GPU_I_PROFILE", "")
        number = int(part) if part.isdecimal() else None
        parts.append(
            {"uuid": name, "profile": profile, "start": None, "memory": 0, "index": number}
        )


def _add_throttle(report: HostReport, gpu: str, one: DcgmSample) -> None:
    bits = int(one.value)
    active = [reason for bit, reason in THROTTLE_REASONS.items() if bits & bit]
    report.add("gpu.throttled", {"gpu": gpu}, one.at_ms, float(bool(active)), "ratio")
    for reason in active:
        report.add("gpu.throttle", {"gpu": gpu, "reason": reason}, one.at_ms, 1.0, "ratio")


def _add_total(report: HostReport, gpu: str, part: str, at: int, size: float) -> None:
    labels = {"gpu": gpu} | ({"mig": part} if part else {})
    report.add("gpu.memory.total", labels, at, size, "bytes")
    for known in report.gpus.values():
        if known["index"] != int(gpu):
            continue
        if not part:
            known["memory"] = int(size)
        for instance in known["mig"]:
            if instance["uuid"].endswith(f"/{part}"):
                instance["memory"] = int(size)
        if part:
            known["memory"] = sum(instance["memory"] for instance in known["mig"])


def find_host(names: Sequence[str] | Mapping[str, Any], host: str) -> str | None:
    """Return the node that a host is: the same name, or the same without a domain."""
    if host in names:
        return host
    short = host.partition(".")[0]
    if short in names:
        return short
    alike = [name for name in names if name.partition(".")[0] == short]
    return alike[0] if len(alike) == 1 else None
