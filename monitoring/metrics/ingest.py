"""Store the reports of node agents and publish them to viewers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeGuard
from uuid import UUID

from clusters.models import Node
from clusters.services.devices import store_devices
from jobs.models import Attempt
from portal import series
from portal.core import clock, streams
from portal.core.errors import InvalidInput, NotFound, QuotaExceeded
from portal.core.events import EventRecord, record_all
from portal.core.messages import Message
from schedulers.images.config import arch_name
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

_KEY = re.compile(r"muster-([0-9a-f]{32})\Z")
_NAME = re.compile(r"[a-z][a-z0-9_.]{0,99}\Z")
_VERSION, _ARCH = (
    re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){0,3}\Z"),
    re.compile(r"(?!none)[a-z0-9_]{2,20}\Z"),
)
MAX_SAMPLES, MAX_JOBS = 5_000, 2_000
FUTURE_MS = 10 * 60_000


def ingest(body: Mapping[str, Any]) -> int:
    """Store one batch and return its number of points. Idempotent, so a batch may be sent again.

    Raises InvalidInput, and NotFound for a node that no cluster has reported.
    """
    at = _time(body.get("at"))
    with platform_scope("agents report machines, which no tenant owns"):
        node = (
            Node.objects.filter(name=str(body.get("node", ""))[:253]).order_by("-seen_at").first()
        )
        if node is None:
            raise NotFound(
                Message(
                    "No cluster has a node {x}. It appears once the inventory of its cluster "
                    "reports it.",
                    x=repr(str(body.get("node"))[:80]),
                )
            )
        batches: list[tuple[str, UUID | None, list[series.Point]]] = [
            (f"node:{node.id.hex}", None, list(_points(at, body.get("samples"))))
        ]
        # Parse everything before anything is stored.
        batches += [
            (
                f"attempt:{attempt.id.hex}",
                attempt.org_id,
                [_named(attempt, node, point) for point in _points(at, samples)],
            )
            for attempt, samples in _jobs(body.get("jobs"))
        ]
        total = sum(store_samples(owner, org_id, at, points) for owner, org_id, points in batches)
        _store_facts(node, body.get("facts"))
        _record_events(node, body.get("events"))
    return total


def store_report(
    node: Node,
    points: Sequence[series.Point],
    *,
    source: str,
    facts: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
) -> int:
    """Store what a telemetry source read about a node; return the number of points."""
    newest = max((point.at_ms for point in points), default=0)
    total = store_samples(f"node:{node.id.hex}", None, newest, points)
    _store_facts(node, facts, source)
    _record_events(node, events, source)
    return total


def _named(attempt: Attempt, node: Node, point: series.Point) -> series.Point:
    """Add the node to GPUs of an attempt on several nodes: each has a GPU 0."""
    if "gpu" not in point.labels or len(attempt.nodes or ()) < 2:
        return point
    return point.labelled(point.labels | {"node": node.name})


def store_samples(owner: str, org_id: UUID | None, at: int, points: Sequence[series.Point]) -> int:
    """Store samples taken at one time, publish them to viewers and return their number."""
    if points:
        try:
            series.append(owner, points, org_id=org_id)
        except QuotaExceeded as error:  # agents treat 409 as a repeated batch
            raise InvalidInput.at("samples", error.message) from error
        values = {p.key: p.value for p in points if p.at_ms == at}
        streams.publish(f"metrics:{owner}", {"t": at, "values": values})
    return len(points)


def _store_facts(node: Node, facts: Any, source: str = "") -> None:
    """Store architecture and driver versions, which decide whether an image can run on the node.

    For clusters whose scheduler does not report them, they are the only source. Devices are stored
    when their description has changed since the last batch. A `source` does not know all about
    them, unlike an agent.
    """
    if not isinstance(facts, dict):
        return
    gpus = facts.get("gpus")
    computes = (
        {str(gpu.get("compute")) for gpu in gpus if isinstance(gpu, dict)}
        if isinstance(gpus, list)
        else set()
    )
    reported = {
        "arch": arch_name(str(facts.get("arch"))),
        "driver": str(facts.get("driver")),
        "cuda": str(facts.get("cuda")),
        "compute": computes.pop() if len(computes) == 1 else "",
    }
    reported = {
        name: value
        for name, value in reported.items()
        if (_ARCH if name == "arch" else _VERSION).match(value)
    }
    if source:
        reported["source"] = source
    if isinstance(gpus, list):
        described = json.dumps([gpus, reported.get("driver", "")], sort_keys=True)
        reported["devices"] = sha256(described.encode()).hexdigest()[:16]
        if reported["devices"] != node.told.get("devices"):
            store_devices(node, gpus, reported.get("driver", ""), is_partial=bool(source))
    if reported != node.told:
        Node.objects.filter(id=node.id).update(told=reported)


def _points(at: int, samples: Any) -> Iterable[series.Point]:
    for number, sample in enumerate(_listed("samples", samples, MAX_SAMPLES)):
        name, value, labels, unit = (
            sample.get("name"),
            sample.get("value"),
            sample.get("labels") or {},
            str(sample.get("unit", "")),
        )
        if not isinstance(name, str) or not _NAME.match(name):
            raise InvalidInput.at("samples", "each needs a `name` of a-z, 0-9, '_' and '.'")
        if not _is_finite(value) or not isinstance(labels, dict) or len(labels) > 8:
            raise InvalidInput.at(
                "samples", f"{name}: `value` must be a finite number, `labels` a small object"
            )
        if not unit.isprintable():
            raise InvalidInput.at(f"samples[{number}].unit", f"{name}: must be printable text")
        named = {str(k)[:40]: str(v)[:100] for k, v in labels.items()}
        try:
            series.canonical(named)
        except InvalidInput as error:
            raise InvalidInput.at(
                f"samples[{number}].labels", f"{name}: {error.data['errors'][0]['message']}"
            ) from error
        yield series.Point(name=name, labels=named, at_ms=at, value=float(value), unit=unit[:20])


def _is_finite(value: Any) -> TypeGuard[float]:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _jobs(jobs: Any) -> list[tuple[Attempt, Any]]:
    """Return the attempts that run here with their samples; unknown keys are ignored."""
    samples = {
        UUID(found[1]): job.get("samples")
        for job in _listed("jobs", jobs, MAX_JOBS)
        if (found := _KEY.match(str(job.get("key", ""))))
    }
    rows = Attempt.objects.filter(id__in=list(samples), state__gte=State.DISPATCHING)
    return [(attempt, samples[attempt.id]) for attempt in rows]


def _record_events(node: Node, events: Any, who: str = "agent") -> None:
    record_all(
        EventRecord(
            f"node.{'xid' if e.get('kind') == 'xid' else 'noted'}",
            None,
            "node",
            node.id,
            who,
            {k: v for k, v in e.items() if isinstance(v, str | int | float | bool)},
        )
        for e in _listed("events", events, 200)
    )


def _listed(name: str, value: Any, most: int) -> Sequence[Mapping[str, Any]]:
    if value is None:
        return []
    if (
        not isinstance(value, list)
        or len(value) > most
        or not all(isinstance(item, dict) for item in value)
    ):
        raise InvalidInput.at(name, f"must be a list of at most {most} objects")
    return value


def _time(at: Any) -> int:
    if not isinstance(at, int) or isinstance(at, bool) or not 0 < at < clock.now_ms() + FUTURE_MS:
        raise InvalidInput.at(
            "at", "must be Unix milliseconds, not in the future: check the node's clock"
        )
    return at
