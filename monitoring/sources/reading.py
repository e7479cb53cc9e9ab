"""Read sources that are due, and store what they measured as agents' reports are stored."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import F

from clusters.models import Node
from monitoring.agent_package import explain_xid
from monitoring.metrics.ingest import store_report
from monitoring.models import TelemetrySource
from monitoring.nodes import FRESH_MS
from monitoring.sources import prometheus
from monitoring.sources.dcgm import HostReport, find_host, reports_of, samples_of_text
from monitoring.sources.http import EXPORTED, UNREADABLE, SourceUnavailable, Telemetry
from portal import series
from portal.core import clock, vault
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.outbound import deadline
from workspaces.tenancy.scope import platform_scope

PURPOSE = TelemetrySource.SEALED["secret"]
log = logging.getLogger(__name__)
WORKERS = 16  # exporters asked at a time
SECONDS = 5.0  # for the answer of one exporter
LAG_MS = 10_000  # a Prometheus stores a scrape up to this much later
LONGEST = 60.0  # seconds for all queries of a reading
FILL_SECONDS = 300.0  # for those of a day of history
CATCH_UP_MS = 600_000  # most that is read from a Prometheus at a time
DAY_MS = 86_400_000  # history read at a time
MOST_UNKNOWN = 20
TESTED = 8  # nodes that a test asks


@dataclass
class Reading:
    """What one reading of a source found. `problem` is empty if every address answered."""

    reports: dict[str, HostReport] = field(default_factory=dict)  # by node
    unknown: list[str] = field(default_factory=list)  # hosts that are no nodes of the cluster
    problem: str = ""
    until_ms: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return what a test shows: the GPUs of each node and the names of their metrics."""
        return {
            "is_ok": not self.problem and bool(self.reports),
            "problem": self.problem
            or ("" if self.reports else Message("No GPU of a node of this cluster was found.")),
            "unknown": self.unknown,
            "nodes": [
                {
                    "node": name,
                    "gpus": len(report.gpus),
                    "driver": report.driver,
                    "metrics": sorted({point.name for point in report.points.values()}),
                }
                for name, report in sorted(self.reports.items())
            ],
        }


def read_due() -> int:
    """Read the sources that are due, each by one process; return their number."""
    now, done = clock.now(), 0
    with platform_scope("machines belong to no organization"):
        due = TelemetrySource.objects.filter(
            is_enabled=True, due_at__lte=now, cluster__is_enabled=True
        ).select_related("cluster")
        for source in due:
            until = now + timedelta(seconds=source.interval)
            if TelemetrySource.objects.filter(id=source.id, due_at=source.due_at).update(
                due_at=until
            ):
                done += 1
                try:
                    read_source(source)
                except Exception:
                    log.exception("telemetry source %s was not read", source.name)
    return done


def read_source(source: TelemetrySource) -> None:
    """Read a source, store what it measured, and record how that went."""
    try:
        token = token_of(source)
    except vault.Unreadable as error:
        found = Reading(problem=str(error))
    else:
        found = read_once(source, token)
        if not found.problem:
            _fill(source, token)
    nodes = {node.name: node for node in Node.objects.filter(cluster=source.cluster)}
    samples = store(source.name, found, nodes)
    since = source.problem_since or clock.now()
    TelemetrySource.objects.filter(id=source.id).update(
        read_at=clock.now(),
        samples=samples,
        nodes=len(found.reports),
        problem=found.problem,
        problem_since=since if found.problem else None,
        unknown=found.unknown,
        read_until=found.until_ms or F("read_until"),
    )


def token_of(source: TelemetrySource) -> str:
    """Return the decrypted token, or an empty string. Raises vault.Unreadable."""
    return vault.decrypt(bytes(source.secret), PURPOSE).decode() if source.secret else ""


def read_once(source: TelemetrySource, token: str) -> Reading:
    """Ask a source and store nothing. A source that is not stored is asked about a few nodes."""
    names = list(
        Node.objects.filter(cluster=source.cluster, is_gone=False)
        .order_by("name")
        .values_list("name", flat=True)
    )
    if source.kind == TelemetrySource.Kind.PROMETHEUS:
        return _from_prometheus(source, token, names)
    return _from_exporters(source, token, names if source.read_at else names[:TESTED], names)


def _from_exporters(
    source: TelemetrySource, token: str, asked: Sequence[str], names: Sequence[str]
) -> Reading:
    """Ask every exporter, at most as long as the interval of the source."""
    targets = [
        (url.replace("{node}", name), name if "{node}" in url else "")
        for url in source.url_list
        for name in (asked if "{node}" in url else [""])
    ]
    found, failed = Reading(), dict[str, str]()
    end = time.monotonic() + max(source.interval, 10)
    session = Telemetry(token, SECONDS, EXPORTED)

    def ask(url: str) -> tuple[str, int]:
        if time.monotonic() > end:
            raise SourceUnavailable(Message("The source was not read in time."))
        return session.text(url), clock.now_ms()

    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: dict[Future[tuple[str, int]], tuple[str, str]] = {
            pool.submit(ask, url): (url, host) for url, host in targets
        }
        for future in as_completed(waiting):
            url, host = waiting.pop(future)
            try:
                text, at = future.result()
                reports = reports_of(samples_of_text(text, at), host)
            except SourceUnavailable as error:
                failed[url] = error.message
            except ValueError:
                failed[url] = Message("The answer is not in the text format of Prometheus.")
            else:
                _assign(found, reports, names)
    if failed:
        url = min(failed)
        found.problem = Message(
            "{failed} of {total} exporters do not answer. {url}: {why}",
            failed=len(failed),
            total=len(targets),
            url=url,
            why=failed[url],
        )
    return found


def _from_prometheus(source: TelemetrySource, token: str, names: Sequence[str]) -> Reading:
    end = clock.now_ms() - LAG_MS
    start = (
        source.read_until if end - source.read_until < DAY_MS else end - 2 * source.interval * 1000
    )
    end = min(end, start + CATCH_UP_MS)
    found = Reading(until_ms=end)
    if end <= start:
        return found
    try:
        # All queries together: other sources wait for it
        with deadline(max(source.interval, LONGEST)):
            samples = prometheus.recent(
                Telemetry(token), source.url_list[0], source.matchers, start, end
            )
            _assign(found, reports_of(samples), names)
    except (SourceUnavailable, ValueError) as error:
        found = Reading(problem=getattr(error, "message", "") or UNREADABLE)
    return found


def _assign(found: Reading, reports: Mapping[str, HostReport], names: Sequence[str]) -> None:
    known = dict.fromkeys(names)
    for host, report in reports.items():
        if (name := find_host(known, host)) is None:
            if host not in found.unknown and len(found.unknown) < MOST_UNKNOWN:
                found.unknown = sorted([*found.unknown, host[:253]])
        elif name in found.reports:  # several exporters of one node
            found.reports[name].points |= report.points
            found.reports[name].gpus |= report.gpus
        else:
            found.reports[name] = report


def _fill(source: TelemetrySource, token: str) -> None:
    """Read the newest day of the history that is still missing, and note what is left."""
    if source.fill_until is None or source.fill_from is None:
        return
    start = max(source.fill_from, source.fill_until - DAY_MS)
    names = list(Node.objects.filter(cluster=source.cluster).values_list("name", flat=True))
    found = Reading()
    try:
        with deadline(FILL_SECONDS):
            samples = prometheus.history(
                Telemetry(token, 60.0),
                source.url_list[0],
                source.matchers,
                start,
                source.fill_until,
            )
            _assign(found, reports_of(samples), names)
    except (SourceUnavailable, ValueError):
        log.warning("the history of %s could not be read; it is tried again", source.name)
        return
    nodes = dict(Node.objects.filter(cluster=source.cluster).values_list("name", "id"))
    for name, report in found.reports.items():
        points = [p for p in report.points.values() if p.name != "gpu.xid" or p.value]
        series.append(f"node:{nodes[name].hex}", points, org_id=None)
    is_done = start <= source.fill_from
    TelemetrySource.objects.filter(id=source.id, fill_until=source.fill_until).update(
        fill_until=None if is_done else start, fill_from=None if is_done else source.fill_from
    )


def store(name: str, found: Reading, nodes: Mapping[str, Node]) -> int:
    """Store reports by node; return the number of samples. Nodes with an agent are left to it.

    A report that is refused is a problem of the reading, and the others are stored.
    """
    latest = series.latest_of([f"node:{nodes[node].id.hex}" for node in found.reports])
    total = 0
    for node_name, report in found.reports.items():
        node = nodes[node_name]
        known = latest[f"node:{node.id.hex}"]
        if node.reported.get("source", "") != name and _is_reported(known.values()):
            continue
        points, events = _with_changed_xids(report, known)
        gpus = list(report.gpus.values())
        facts = {"gpus": gpus, "driver": report.driver}
        try:
            total += store_report(node, points, source=name, facts=facts, events=events)
        except InvalidInput as error:
            found.problem = Message("{node}: {why}", node=node_name, why=error.message)
    return total


def _is_reported(latest: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether somebody else has measured the node just now."""
    return any(row["at"] > clock.now_ms() - FRESH_MS for row in latest)


def _with_changed_xids(
    report: HostReport, known: Mapping[str, Mapping[str, Any]]
) -> tuple[list[series.Point], list[dict[str, Any]]]:
    """Return the points, of XIDs only changes, and an event for each new XID.

    An exporter repeats the last XID of a GPU until its driver is loaded again.
    """
    points: list[series.Point] = []
    xids: dict[str, list[series.Point]] = defaultdict(list)
    for point in report.points.values():
        (xids[point.key] if point.name == "gpu.xid" else points).append(point)
    events = []
    for key, some in xids.items():
        last = known[key]["value"] if key in known else 0.0
        for point in sorted(some, key=lambda p: p.at_ms):
            if point.value != last:
                points.append(point)
                if point.value:
                    events.append(_xid_event(point))
            last = point.value
    return points, events


def _xid_event(point: series.Point) -> dict[str, Any]:
    code = int(point.value)
    return {
        "kind": "xid",
        "at": point.at_ms,
        "gpu": int(point.labels["gpu"]),
        "code": code,
        **explain_xid(code),
    }
