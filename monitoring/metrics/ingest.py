"""Store the reports of node agents and publish them to viewers."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any, TypeGuard
from uuid import UUID

import orjson
from django.core.cache import cache
from django.db import connection

from clusters.models import Cluster, Node
from clusters.services.devices import store_devices
from clusters.services.mig_progress import take_report, work_for
from jobs.dispatch.gpu_errors import ended_late
from jobs.dispatch.lifecycle import explain_late
from jobs.models import Attempt
from monitoring.agent_package import is_possible
from portal import series
from portal.core import clock, streams
from portal.core.errors import InvalidInput, NotFound, NotPermitted, QuotaExceeded
from portal.core.events import EventRecord, record_all
from portal.core.joined_select import JoinedSelect
from portal.core.messages import Message
from portal.series.points import series_key
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
MOST_TIMES = 600
MOST_REFUSED = 20  # values that an answer names
_AGAIN = 3600  # seconds until an impossible value of one metric is recorded again
MOST_FIELDS, MOST_TEXT = 20, 2_000  # of an event of a node; characters
FUTURE_MS = 10 * 60_000
# An agent's spool lasts for days at most. A measurement of a job may be this long before its start
# or after its end: schedulers round both, and clocks that are less off are not corrected.
PAST_MS, BESIDE_MS = 31 * 86_400_000, 10_000
SKEW_MS, MOST_SKEW_MS = 5_000, 100 * 366 * 86_400_000  # clocks that are further off are corrected
# Decimals that are kept: sensors are less exact, and noise does not compress.
_DIGITS = {"ratio": 4, "W": 1, "degC": 1, "bytes/s": -4}


def ingest(
    body: Mapping[str, Any], sent_ms: int | None = None, cluster: str = ""
) -> dict[str, Any]:
    """Store one batch. Idempotent, so a batch may be sent again.

    Returns `accepted`, the number of points, `work` if the agent is to partition GPUs, and `watched`
    if somebody looks at the node, so that its batches should be short. Values that no sensor
    measures are left out: `refused` has the first of them, `refused_count` their number.
    `sent_ms` is the node's time of sending. Times of a node whose clock is off are corrected. Raises
    InvalidInput, NotFound for a node that no cluster has reported, and NotPermitted for one of
    another cluster than `cluster`, if that is given.
    """
    shift = _shift(body.get("facts"), sent_ms)
    at, refused = _time(body.get("at"), shift), _Refused()
    if "times" in body:
        return _ingest_columns(body, at, shift, cluster, refused)
    with platform_scope("agents report machines, which no tenant owns"):
        node = _node(body, cluster)
        batches: list[tuple[str, UUID | None, list[series.Point]]] = [
            (f"node:{node.id.hex}", None, list(_points(at, body.get("samples"), refused)))
        ]
        # Parse everything before anything is stored.
        batches += [
            (
                f"attempt:{attempt.id.hex}",
                attempt.org_id,
                _own(attempt, node, _points(at, samples, refused)),
            )
            for attempt, samples in _jobs(body.get("jobs"), node)
        ]
        total = sum(store_samples(owner, org_id, at, points) for owner, org_id, points in batches)
        _store_facts(node, body.get("facts"))
        _record_events(node, body.get("events"))
        return _answer(node, body, total, refused)


@dataclass
class _Refused:
    """Values of a batch that no sensor measures: they would bend every chart and sum."""

    values: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0

    def is_possible(
        self, place: str, name: str, value: float, unit: str, labels: Mapping[str, Any]
    ) -> bool:
        """Return whether to store a value; if not, note it by name."""
        if is_possible(value, unit):
            return True
        self.count += 1
        if len(self.values) < MOST_REFUSED:
            text = Message(
                "{name}: {value} {unit} is not possible.", name=name, value=value, unit=unit
            )
            gpu = str(labels.get("gpu", ""))
            data = {"metric": name, "value": value, "unit": unit[:20]}
            data |= {"gpu": int(gpu)} if gpu.isascii() and gpu.isdigit() else {}
            self.values.append({"field": place, "message": text, "data": data})
        return False

    def answer(self, node: Node) -> dict[str, Any]:
        """Return what the agent is told, and record it as an event of the node once an hour."""
        if not self.values:
            return {}
        for one in self.values:
            data = one["data"]
            if cache.add(f"impossible:{node.id}:{data['metric']}:{data.get('gpu')}", 1, _AGAIN):
                _record_events(node, [{"kind": "impossible_value", **data, "count": self.count}])
        reported = [{"field": one["field"], "message": one["message"]} for one in self.values]
        return {"refused": reported, "refused_count": self.count}


def _answer(node: Node, body: Mapping[str, Any], total: int, refused: _Refused) -> dict[str, Any]:
    work = _mig_work(node, body.get("facts"))
    return {"accepted": total, **({"work": work} if work else {}), **refused.answer(node)}


def _mig_work(node: Node, facts: Any) -> dict[str, Any] | None:
    """Take the agent's report on MIG, and return its next work if it may partition GPUs."""
    mig = facts.get("mig") if isinstance(facts, dict) else None
    if not isinstance(mig, dict) or mig.get("is_allowed") is not True:
        return None
    take_report(node, mig.get("report"))
    return work_for(node)


def _ingest_columns(
    body: Mapping[str, Any], at: int, shift: int, cluster: str, refused: _Refused
) -> dict[str, Any]:
    """Store a batch of several times, which agents send that measure every second.

    `times` are Unix milliseconds in increasing order, the last of which is `at`; each of `columns` is
    [name, labels, unit, values] with one value per time, null where there is none. A sample of a job
    has a time of its own, `at`.
    """
    times = body["times"]
    if (
        not isinstance(times, list)
        or not 0 < len(times) <= MOST_TIMES
        or any(not isinstance(t, int) or isinstance(t, bool) or t <= 0 for t in times)
        or any(b <= a for a, b in pairwise(times))
        or times[-1] + shift != at
    ):
        raise InvalidInput.at(
            "times", f"must be 1 to {MOST_TIMES} increasing times that end at `at`"
        )
    columns = _columns(body.get("columns"), len(times), refused)
    with platform_scope("agents report machines, which no tenant owns"):
        node = _node(body, cluster)
        _time(times[0], shift)
        times = [t + shift for t in times]
        owner = f"node:{node.id.hex}"
        # Parse everything before anything is stored.
        jobs = [
            (attempt, _own(attempt, node, _points(at, samples, refused, shift)))
            for attempt, samples in _jobs(body.get("jobs"), node)
        ]
        try:
            series.append_batch(owner, times, columns)
        except QuotaExceeded as error:
            raise InvalidInput.at("columns", error.message) from error
        if is_watched := streams.was_watched(topic := f"metrics:{owner}"):
            _publish(topic, times, columns)
        total = sum(len(times) - column.values.count(None) for column in columns)
        for attempt, points in jobs:
            total += store_samples(f"attempt:{attempt.id.hex}", attempt.org_id, at, points)
        _store_facts(node, body.get("facts"))
        _record_events(node, body.get("events"))
        return _answer(node, body, total, refused) | ({"watched": True} if is_watched else {})


def _publish(topic: str, times: Sequence[int], columns: Sequence[series.BatchColumn]) -> None:
    keys = [series_key(column.name, column.labels) for column in columns]
    streams.publish_all(
        (
            [topic],
            {
                "t": t,
                "values": {
                    key: column.values[row]
                    for key, column in zip(keys, columns, strict=True)
                    if column.values[row] is not None
                },
            },
        )
        for row, t in enumerate(times)
    )


def _columns(columns: Any, count: int, refused: _Refused) -> list[series.BatchColumn]:
    if not isinstance(columns, list) or len(columns) > MAX_SAMPLES:
        raise InvalidInput.at("columns", f"must be a list of at most {MAX_SAMPLES}")
    for number, column in enumerate(columns):
        if not isinstance(column, list) or len(column) != 4:
            raise InvalidInput.at(f"columns[{number}]", "must be [name, labels, unit, values]")
    try:
        named = _column_names(orjson.dumps([column[:3] for column in columns]))
    except orjson.JSONEncodeError as error:
        raise InvalidInput.at("columns", str(error)) from error
    found = []
    for number, ((name, labels, unit, digits), column) in enumerate(
        zip(named, columns, strict=True)
    ):
        values = column[3]
        if not isinstance(values, list) or len(values) != count:
            raise InvalidInput.at(f"columns[{number}]", "needs one value per time")
        if not _are_finite(values):
            raise InvalidInput.at(f"columns[{number}]", "needs finite numbers, or null")
        measured = [value for value in values if value is not None]
        ends = (min(measured), max(measured)) if measured else ()
        if not all(is_possible(value, unit) for value in ends):
            place = f"columns[{number}]"
            values = [
                value
                if value is None or refused.is_possible(place, name, value, unit, labels)
                else None
                for value in values
            ]
        if digits is not None:
            values = [value if value is None else round(value, digits) for value in values]
        found.append(series.BatchColumn(name, labels, unit, values))
    return found


@lru_cache(maxsize=256)
def _column_names(described: bytes) -> list[tuple[str, dict[str, str], str, int | None]]:
    """Return name, labels, unit and digits of columns; batches of equal machines have the same."""
    found = []
    for number, (name, labels, unit) in enumerate(orjson.loads(described)):
        is_named = isinstance(name, str) and _NAME.match(name) and isinstance(labels, dict)
        if not is_named or len(labels) > 8 or not isinstance(unit, str) or not unit.isprintable():
            raise InvalidInput.at(f"columns[{number}]", "needs a name, few labels and a unit")
        named = {str(k)[:40]: str(v)[:100] for k, v in labels.items()}
        found.append((name, named, unit[:20], _DIGITS.get(unit)))
    return found


_NODE = ("id", "cluster_id", "name", "reported")
_FIND = JoinedSelect(
    "SELECT {columns} FROM {node} JOIN {cluster} ON cluster.id = node.cluster_id "
    "WHERE node.name = %s ORDER BY node.seen_at DESC",
    {"node": Node, "cluster": Cluster},
    [("node", _NODE), ("cluster", ("name",))],
)


def _node(body: Mapping[str, Any], cluster: str) -> Node:
    """Return the node that a batch names, with a few fields; the last seen of several."""
    name = str(body.get("node", ""))[:253]
    rows = _FIND.rows([name]) if name.isprintable() else []
    here = [row for row in rows if cluster in ("", row[-1])]
    if here:
        return Node.from_db(connection.alias, _NODE, here[0][:-1])
    if rows:
        raise NotPermitted(
            Message(
                "This access token is limited to the cluster {cluster}, but the node {x} is in "
                "another one. Use a token of its cluster.",
                cluster=cluster,
                x=repr(name[:80]),
            ),
            code="token_cluster",
        )
    raise NotFound(
        Message(
            "No cluster has a node {x}. It appears once the inventory of its cluster reports it.",
            x=repr(str(body.get("node"))[:80]),
        )
    )


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


def _own(attempt: Attempt, node: Node, points: Iterable[series.Point]) -> list[series.Point]:
    """Return the measurements from the time in which the attempt ran, with their node."""
    first = (attempt.started_at or attempt.queued_at).timestamp() * 1000 - BESIDE_MS
    ended = attempt.finished_at or (attempt.state_at if attempt.state >= State.SUCCEEDED else None)
    last = (ended or clock.now()).timestamp() * 1000 + BESIDE_MS
    return [_named(attempt, node, point) for point in points if first <= point.at_ms <= last]


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
        if streams.was_watched(topic := f"metrics:{owner}"):
            values = {p.key: p.value for p in points if p.at_ms == at}
            streams.publish(topic, {"t": at, "values": values})
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
    mig = facts.get("mig")
    if isinstance(mig, dict) and mig.get("is_allowed") is True:
        reported["mig"] = "allowed"
    if source:
        reported["source"] = source
    if isinstance(gpus, list):
        described = json.dumps([gpus, reported.get("driver", "")], sort_keys=True)
        reported["devices"] = sha256(described.encode()).hexdigest()[:16]
        if reported["devices"] != node.reported.get("devices"):
            store_devices(node, gpus, reported.get("driver", ""), is_partial=bool(source))
    if reported != node.reported:
        Node.objects.filter(id=node.id).update(reported=reported)


def _points(at: int, samples: Any, refused: _Refused, shift: int = 0) -> Iterable[series.Point]:
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
        if not refused.is_possible(f"samples[{number}].value", name, value, unit, labels):
            continue
        when = _time(sample["at"], shift) if "at" in sample else at
        named = {str(k)[:40]: str(v)[:100] for k, v in labels.items()}
        try:
            series.canonical(named)
        except InvalidInput as error:
            raise InvalidInput.at(
                f"samples[{number}].labels", f"{name}: {error.data['errors'][0]['message']}"
            ) from error
        yield series.Point(name=name, labels=named, at_ms=when, value=float(value), unit=unit[:20])


def _are_finite(values: list[Any]) -> bool:
    """Return whether all values are finite numbers or None; fast if none is missing."""
    try:
        if math.isfinite(sum(array("d", values))):
            return True
    except (TypeError, OverflowError):
        pass
    return all(value is None or _is_finite(value) for value in values)


def _is_finite(value: Any) -> TypeGuard[float]:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _jobs(jobs: Any, node: Node) -> list[tuple[Attempt, Any]]:
    """Return the attempts that run on the node with their samples; other keys are ignored.

    Whoever has the token of an agent may know the keys of jobs elsewhere.
    """
    samples = {
        UUID(found[1]): job.get("samples")
        for job in _listed("jobs", jobs, MAX_JOBS)
        if (found := _KEY.match(str(job.get("key", ""))))
    }
    if not samples:
        return []
    rows = Attempt.objects.filter(
        id__in=list(samples), state__gte=State.DISPATCHING, cluster_id=node.cluster_id
    )
    return [
        (attempt, samples[attempt.id])
        for attempt in rows
        if node.name in (attempt.nodes or [attempt.node or node.name])
    ]


def _record_events(node: Node, events: Any, who: str = "agent") -> None:
    found = _listed("events", events, 200)
    if not found:
        return
    record_all(
        EventRecord(
            f"node.{'xid' if e.get('kind') == 'xid' else 'noted'}",
            None,
            "node",
            node.id,
            who,
            {
                _storable(k): _storable(v)
                for k, v in islice(e.items(), MOST_FIELDS)
                if isinstance(v, str | int | float)
            }
            | ({"jobs": jobs} if (jobs := _keys(e.get("jobs"))) else {}),
        )
        for e in found
    )
    if any(e.get("kind") == "xid" for e in found):
        explain_late(ended_late(node.cluster_id, node.name))


def _storable(value: Any) -> Any:
    """Return a value without NUL, which PostgreSQL's JSON has not; a text has a limit."""
    return value.replace("\0", "")[:MOST_TEXT] if isinstance(value, str) else value


def _keys(jobs: Any) -> list[str]:
    """Return the keys of attempts among the agent's jobs."""
    return [key for key in jobs[:50] if _KEY.match(str(key))] if isinstance(jobs, list) else []


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


def _shift(facts: Any, sent_ms: int | None) -> int:
    """Return by how many ms the times of a batch are corrected: 0 if the node's clock is right.

    `facts.clock_skew` is how far the portal's clock was ahead, in seconds, when the batch was taken.
    An agent that has not reached the portal yet does not know it: then the time of sending tells.
    """
    skew = facts.get("clock_skew") if isinstance(facts, dict) else None
    if not isinstance(skew, bool) and _is_finite(skew):
        shift = skew * 1000
    else:
        shift = clock.now_ms() - sent_ms if sent_ms else 0
    return round(shift) if SKEW_MS < abs(shift) < MOST_SKEW_MS else 0


def _time(at: Any, shift: int = 0) -> int:
    now = clock.now_ms()
    if (
        not isinstance(at, int)
        or isinstance(at, bool)
        or not now - PAST_MS < at + shift < now + FUTURE_MS
    ):
        raise InvalidInput.at(
            "at",
            "must be Unix milliseconds, not in the future or over a month ago: check the node's clock",
        )
    return at + shift
