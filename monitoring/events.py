"""How the events of telemetry read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from clusters.health.checks import check_of_xid
from monitoring.models import TelemetrySource
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark
from schedulers.xids import Xid, XidClass, xid_of

_BY_PROGRAM = Message("The program on this GPU caused it.")


def _sources(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = TelemetrySource.objects.filter(id__in=ids)
    return {row.id: (row.name, f"/platform/telemetry/{row.name}") for row in rows}


def _known(data: Mapping[str, Any]) -> Xid:
    code = data.get("code")
    number = code if isinstance(code, int) else 0
    return xid_of(number, str(data.get("meaning", "")), str(data.get("action", "")))


def _xid(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what happened and what to do."""
    known = _known(data)
    check = check_of_xid(known.code, known.kind)
    own = _BY_PROGRAM if known.kind is XidClass.PROGRAM else ""
    return {
        "xid": Message(
            "XID {code} on GPU {gpu}: {meaning}",
            context="text, monitoring",
            code=data.get("code", "?"),
            gpu=data.get("gpu", "?"),
            meaning=str(data.get("meaning", "")) or known.meaning,
        ),
        "advice": check.advice if check else own,
    }


def _xid_mark(data: Mapping[str, Any]) -> Mark:
    return Mark.CROSS if _known(data).kind.is_hardware else Mark.DASHED


def _noted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    match data.get("kind"):
        case "gpu_lost":
            return {"noted": Message("GPU {gpu} stopped responding", gpu=data.get("gpu", "?"))}
        case "driver_lost":
            return {"noted": Message("The NVIDIA driver stopped responding")}
        case "impossible_value":
            text = Message(
                "{name}: {value} {unit} is not possible, and was not stored",
                name=data.get("metric", "?"),
                value=data.get("value", "?"),
                unit=data.get("unit", ""),
            )
            return {"noted": text}
    return {"noted": data.get("kind", "")}


def _noted_mark(data: Mapping[str, Any]) -> Mark:
    lost = {"gpu_lost": Mark.CROSS, "driver_lost": Mark.CROSS, "impossible_value": Mark.DASHED}
    return lost.get(str(data.get("kind")), Mark.HOLLOW)


EVENTS = (
    EventKind(
        "node.xid",
        (
            Message("{subject}: {xid}. {advice}"),
            Message("{subject}: {xid}"),
            Message("{actor} reported an XID of {subject}"),
        ),
        facts=_xid,
        mark=_xid_mark,
    ),
    EventKind(
        "node.noted",
        (Message("{subject}: {noted}"), Message("{actor} noted something about {subject}")),
        facts=_noted,
        mark=_noted_mark,
    ),
    EventKind("telemetry_source.added", (Message("{actor} added the telemetry source {subject}"),)),
    EventKind(
        "telemetry_source.changed", (Message("{actor} changed the telemetry source {subject}"),)
    ),
    EventKind(
        "telemetry_source.removed",
        (Message("{actor} removed the telemetry source {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "telemetry_source.tested", (Message("{actor} tested the telemetry source {subject}"),)
    ),
    EventKind(
        "telemetry_source.history_asked",
        (
            Message("{actor} asked the telemetry source {subject} for its history since {since}"),
            Message("{actor} asked the telemetry source {subject} for its history"),
        ),
    ),
)
GROUPS = {
    "telemetry_source": Message("Telemetry", context="way to group"),
}
SUBJECTS = (Subject("telemetry_source", Message("a telemetry source"), _sources),)
