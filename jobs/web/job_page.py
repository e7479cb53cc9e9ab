"""Context of the page of one job: header, timeline, tasks, overview and the answer for a wait."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from clusters.models import Device
from jobs.data import log_storage
from jobs.data.outputs import output_text
from jobs.dispatch.environment import environment_of
from jobs.kinds import origins, reruns
from jobs.models import Attempt, Dependency, Job
from jobs.models.attempt import placed_on
from jobs.ports.listing import port_rows
from jobs.quotas.pricing import cost_of_jobs
from jobs.saving.origins import resume_url
from jobs.saving.represent import JobOutputShape, output_rows
from jobs.scheduling import pending_explanation
from jobs.scheduling.expected_start import expected_start_of
from jobs.selectors import representations
from jobs.selectors.jobs import find_attempt, visible_jobs
from jobs.selectors.metrics import chart_context
from jobs.selectors.representations import AttemptShape, JobShape
from jobs.services.change import may_change
from jobs.services.suggestions import suggestions_of
from jobs.specs.changes import spec_diff
from jobs.utilization.idle import last_use_beside_idle_gpus
from jobs.utilization.idle_rules import idle_case
from jobs.web.links import links_of
from jobs.web.reading import facts_of_log, last_lines
from portal import series
from portal.core import clock
from portal.core.messages import Message
from portal.core.models import Event
from portal.web.asset_actions import AssetAction, asset_actions
from portal.web.charts import expected_charts
from portal.web.lineage import lineage_context
from schedulers.states import State
from workspaces.access.permissions import Permission as P
from workspaces.audit.event_links import event_lines

TABS = (
    ("overview", Message("Overview", context="tab")),
    ("logs", Message("Logs", context="tab")),
    ("metrics", Message("Metrics", context="tab")),
    ("spec", Message("Spec", context="tab")),
    ("environment", Message("Environment", context="tab")),
    ("lineage", Message("Lineage", context="tab")),
    ("events", Message("Events", context="tab")),
)
BUCKETS = 60  # of a sparkline
GAP = 4  # empty buckets that are a gap
MOST_CELLS = 2000  # tasks in the grid
MOST_LINKS = 50  # jobs of one kind in the lineage
_ENDS = {
    State.SUCCEEDED: Message("Succeeded", context="how a job ended"),
    State.FAILED: Message("Failed", context="how a job ended"),
    State.CANCELED: Message("Canceled", context="how a job ended"),
}
_MAIN_CURVES = re.compile(
    r"loss|reward|accuracy|acc\b|perplexity|score|f1|bleu|wer|iou|map\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Phase:
    """A step of the timeline.

    `state` is the class of its symbol, "" for a step that is still to come. `seconds` is how long it
    took; a step that is under way has `since` instead. The end has `at`.
    """

    label: str
    state: str = ""
    seconds: float | None = None
    since: datetime | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Sparkline:
    """A ratio that was measured on the GPUs of an attempt, as SVG polylines on 120 × 24.

    `percent` is the mean of the last five minutes, or of the whole run if it has ended.
    """

    label: str
    points: Sequence[str]
    percent: int | None


def job_context(request: Any, row: Job) -> dict[str, Any]:
    """Return the context of jobs/detail.html. Raises NotFound for an unknown task or attempt."""
    events = list(Event.objects.filter(subject_id=row.id).order_by("-position")[:200])
    tasks = _tasks(row)
    attempt = _chosen(request, row, tasks)
    detail = representations.job_detail(row)
    explanation = pending_explanation.explanation_of(row, request.actor)
    start = expected_start_of(row) if explanation and not explanation.is_starting else None
    may_change_it = may_change(request.actor, row)  # type: ignore[attr-defined]
    tab = _tab(request)
    ports = port_rows(attempt, row)
    metrics = latest_metrics(row, attempt)
    outputs, log = output_rows(row, attempt.index), facts_of_log(attempt)
    return {
        "page_title": f"#{row.number} {row.name}",
        "crumbs": [(Message("Jobs", context="navigation"), f"/{request.org.slug}/jobs")],
        "job_api": f"/api/v1/orgs/{request.org.slug}/jobs/{row.number}",
        "job": detail,
        "job_hex": row.id.hex,
        "team_name": row.team.name,
        "attempt": representations.attempt_row(attempt) | {"devices": _devices(attempt)},
        "attempt_hex": attempt.id.hex,
        "tries": _tries(row, attempt),
        "timeline": timeline(row, attempt),
        "tasks": tasks,
        "task": _task_context(row, attempt) if row.array_size is not None else None,
        "pending": explanation,
        "expected": start.as_dict() if start else None,
        "suggestions": suggestions_of(request.actor, row, explanation, attempt),
        "output": output_text(attempt),
        "ports": ports,
        "web_ports": sum(one["protocol"] == "http" for one in ports),
        "outputs": outputs,
        "asset_actions": _actions(request, row, attempt, outputs, has_log=_has_log(log)),
        "reason": representations.reason_of(attempt.reason, attempt.evidence),
        "log": log,
        "tail": last_lines(attempt),
        "deletable": _deletable(row) if may_change_it else 0,
        "event_lines": event_lines(events, row.org),
        "skipped_metrics": {
            event.data["file"]: event.data
            for event in reversed(events)
            if event.kind == "job.metrics_skipped"
        },
        "metrics": metrics,
        "expected_charts": expected_charts((one["name"] for one in metrics), 2),
        "gpu": gpu_sparklines(attempt) if row.resources.get("gpu") else [],
        "usage": _usage(attempt),
        "cost": cost_of_jobs([row.id]),
        "idle_case": idle_case(row),
        "port_use": last_use_beside_idle_gpus(row) if ports else None,
        "now": clock.now(),
        "lineage": _lineage(request, row),
        "links": links_of(request.actor, row),
        "origin": origins.link_of(request.actor, row),
        "graph": lineage_context(request, "job", row.id) if tab == "lineage" else None,
        "diff": spec_diff(request.actor, row),
        "env": sorted(environment_of(attempt).items()),
        **chart_context(row, request.GET.get("task") or request.GET.get("index", "")),
        "tab": tab,
        "tab_in_url": "" if tab == "overview" else tab,
        "task_index": attempt.index if row.array_size is not None else None,
        "attempt_ordinal": None if attempt.is_current else attempt.ordinal,
        "tabs": TABS,
        "limit": _spaced(row.spec.get("policy", {}).get("max_runtime", "")),
        "may_change": may_change_it,
        "may_admin": request.actor.may(P.JOBS_ADMIN, row.team_id),
        "is_final": State(row.state).is_final,
    }


def _has_log(log: Mapping[str, Any]) -> bool:
    """Return whether there is a log to download: the size of a deleted one is kept."""
    return bool(log["bytes"]) and not (log["certificate"] or {}).get("deleted")


def _actions(
    request: Any,
    row: Job,
    attempt: Attempt,
    outputs: Sequence[JobOutputShape],
    *,
    has_log: bool,
) -> list[AssetAction]:
    """Return what can be done with the job: what it saved can be resumed and registered."""
    api = f"/api/v1/orgs/{request.org.slug}/jobs/{row.number}"
    saved = next((o for o in outputs if o["versions"] and o["kind"] == "checkpoint"), None)
    register = ""
    if saved:
        name = saved["repository"]
        at = f"checkpoints:/{name}@{saved['versions'][0]['version']}"
        query = urlencode({"source": at, "name": name, "team": row.team.slug})
        register = f"{reverse('model-new', args=[request.org.slug])}?{query}"
    query = urlencode({"index": attempt.index, "attempt": attempt.ordinal})
    return asset_actions(
        request,
        resume=resume_url(row) if saved else "",
        register=register,
        log=f"{api}/logs/download?{query}" if has_log else "",
    )


def _devices(attempt: Attempt) -> list[tuple[int, str]]:
    """Return index and UUID of the GPUs that have a page: known devices, not their MIG instances."""
    pairs = [
        pair
        for part in placed_on(attempt.placement)
        for pair in zip(part["gpus"], part["uuids"], strict=False)
    ]
    uuids = {uuid for _, uuid in pairs}
    known = set(Device.objects.filter(uuid__in=uuids).values_list("uuid", flat=True))
    return pairs if known >= uuids else []


def timeline(row: Job, attempt: Attempt) -> list[Phase]:
    """Return the steps of one attempt, with the time when it was handed over."""
    queued = row.created_at if attempt.ordinal == 1 else attempt.queued_at
    handed_over = (
        Event.objects.filter(
            subject_id=row.id,
            kind="attempt.dispatching",
            data__index=attempt.index,
            data__ordinal=attempt.ordinal,
        )
        .order_by("position")
        .values_list("at", flat=True)
        .first()
    )
    return phases(attempt, queued, handed_over or attempt.started_at)


def phases(attempt: Attempt, queued: datetime, begun: datetime | None) -> list[Phase]:
    """Return Queued, Starting and Running of one attempt, and its end; it skips what never began."""
    state = State(attempt.state)
    now = State.STOPPING if state == State.STOPPING else State.RUNNING
    steps: list[tuple[str, str, datetime | None, datetime | None]] = [
        (
            Message("Queued", context="phase of a job"),
            "queued",
            queued,
            begun or attempt.finished_at,
        ),
        (
            Message("Starting", context="phase of a job"),
            "starting",
            begun,
            attempt.started_at or attempt.finished_at,
        ),
        (
            Message("Stopping", context="phase of a job")
            if now is State.STOPPING
            else Message("Running", context="phase of a job"),
            now.label,
            attempt.started_at,
            attempt.finished_at,
        ),
    ]
    found = []
    for label, name, start, end in steps:
        if start and end:
            found.append(Phase(label, name, seconds=max((end - start).total_seconds(), 0)))
        elif start:
            found.append(Phase(label, name, since=start))
        elif not state.is_final:
            found.append(Phase(label))
    if state.is_final:
        return [*found, Phase(_ENDS[state], state.label, at=attempt.finished_at)]
    return found


def latest_metrics(row: Job, attempt: Attempt) -> list[dict[str, Any]]:
    """Return the last values of the curves that the task reported, losses and scores first."""
    found = [
        point
        for point in series.latest(f"job:{row.id.hex}").values()
        if row.array_size is None or point["labels"].get("task") == str(attempt.index)
    ]
    found.sort(key=lambda p: (not _MAIN_CURVES.search(p["name"]), "loss" not in p["name"]))
    return found[:6]


def gpu_sparklines(attempt: Attempt) -> list[Sparkline]:
    """Return what the GPUs of an attempt did over its life, of each metric that was measured.

    Utilization counts any kernel; SM activity says how much of the GPU worked.
    """
    titles = {
        "gpu.utilization": Message("GPU utilization", context="text, jobs"),
        "gpu.sm.active": Message("SM activity", context="text, jobs"),
    }
    points: dict[str, list[tuple[int, float]]] = {}
    for one in series.query(f"attempt:{attempt.id.hex}", names=[*titles], max_points=BUCKETS):
        pairs = zip(one.times, one.values, strict=True)
        points.setdefault(one.name, []).extend((at, v) for at, v in pairs if v is not None)
    is_final = State(attempt.state).is_final
    return [
        _sparkline(title, points[name], 0 if is_final else clock.now_ms() - 300_000)
        for name, title in titles.items()
        if points.get(name)
    ]


def _sparkline(label: str, points: list[tuple[int, float]], since: int) -> Sparkline:
    first, last = min(points)[0], max(points)[0]
    width = max((last - first) // BUCKETS, 10_000)
    buckets: dict[int, list[float]] = {}
    for at, value in points:
        buckets.setdefault((at - first) // width, []).append(value)
    end = max(*buckets, 1)
    lines, before = list[list[str]](), -GAP
    for n, values in sorted(buckets.items()):
        if n - before >= GAP:
            lines.append([])
        lines[-1].append(f"{n / end * 120:.1f},{23 - fmean(values) * 22:.1f}")
        before = n
    counted = [value for at, value in points if at > since]
    percent = round(100 * fmean(counted)) if counted else None
    return Sparkline(label, [" ".join(line) for line in lines], percent)


def _usage(attempt: Attempt) -> dict[str, float]:
    """Return the last measured usage by short name, with one decimal; none unless it runs."""
    if not State.DISPATCHING < attempt.state < State.SUCCEEDED:
        return {}
    names = {"cpu.used": "cpu", "memory.used": "memory", "gpu.memory.used": "gpu_memory"}
    found: dict[str, float] = {}
    for point in series.latest(f"attempt:{attempt.id.hex}").values():
        if name := names.get(point["name"]):
            found[name] = found.get(name, 0) + point["value"]
    return {name: round(value, 1) for name, value in found.items()}


def _tasks(row: Job) -> list[AttemptShape]:
    if row.array_size is None:
        return []
    rows = row.attempts.filter(is_current=True).order_by("index")[:MOST_CELLS]
    return [representations.attempt_row(attempt) for attempt in rows]


def _chosen(request: Any, row: Job, tasks: Sequence[AttemptShape]) -> Attempt:
    """Return the attempt in the URL; of an array, a failed or else a running task by default."""
    index, ordinal = (_number(request, name) for name in ("index", "attempt"))
    if index is None:
        order = ("failed", "running", "stopping", "starting")
        first = min(
            tasks,
            key=lambda t: order.index(t["state"]) if t["state"] in order else len(order),
            default={"index": 0},
        )
        index = first["index"]
    return find_attempt(row, min(index, 2**31 - 1), ordinal and min(ordinal, 2**15))


def _number(request: Any, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _tries(row: Job, attempt: Attempt) -> list[AttemptShape]:
    rows = row.attempts.filter(index=attempt.index).order_by("ordinal")
    return [representations.attempt_row(one) for one in rows]


def _task_context(row: Job, attempt: Attempt) -> dict[str, Any]:
    """Return the place of the task among the others, and the counts of the whole array."""
    others = row.attempts.filter(is_current=True)
    states = representations.array_states(row)
    return {
        "place": others.filter(index__lt=attempt.index).count() + 1,
        "previous": others.filter(index__lt=attempt.index)
        .order_by("-index")
        .values_list("index", flat=True)
        .first(),
        "next": others.filter(index__gt=attempt.index)
        .order_by("index")
        .values_list("index", flat=True)
        .first(),
        "total": sum(states.values()),
        "done": sum(n for state, n in states.items() if State.of(state).is_final),
    }


def _lineage(request: Any, row: Job) -> dict[str, Any]:
    """Return the jobs around this one that the viewer may see."""
    visible = visible_jobs(request.actor)

    def shown(**where: Any) -> list[JobShape]:
        found = representations.listed(visible.filter(**where)).order_by("-number")[:MOST_LINKS]
        return [representations.job_row(one) for one in found]

    needs = Dependency.objects.filter(job=row).values("needs")
    needed_by = Dependency.objects.filter(needs=row).values("job")
    return {
        "parents": shown(id=row.origin_id) if row.origin_kind == reruns.NAME else [],
        "reruns": shown(origin_kind=reruns.NAME, origin_id=row.id),
        "needs": shown(id__in=needs) if needs.exists() else [],
        "needed_by": shown(id__in=needed_by) if needed_by.exists() else [],
    }


def _spaced(duration: object) -> str:
    """Return "1d 11h" of "1d11h"."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", str(duration or ""))


def _tab(request: HttpRequest) -> str:
    query = request.GET.get("tab", "")
    return query if query in dict(TABS) else "overview"


def _deletable(row: Job) -> int:
    """Return the bytes of logs that may be deleted now."""
    is_ended = State(row.state).is_final and not row.log_delete_asked_at
    return log_storage.bytes_of(row) if is_ended else 0
