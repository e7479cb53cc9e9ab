"""Read recorded GPU utilization: of jobs, nodes and teams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.core.cache import cache
from django.db.models import BigIntegerField, Sum
from django.db.models.functions import Cast, TruncHour

from jobs.models import AttemptUtilization, GpuCapacity, GpuTime, Job, NodeUtilization
from jobs.selectors import gpu_use
from portal.core import clock
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team

FRESH = timedelta(minutes=3)  # recorded every minute; what is older is unknown
HOUR_MS = 3_600_000
PERIOD = 300_000  # of `GpuTime`, in milliseconds
WIDTHS = {24: 900, 168: 7200}  # seconds between two points, by hours
KEPT_FOR = 60  # seconds


class TeamGpuTimeShape(TypedDict):
    slug: str
    name: str
    now: Annotated[int, "GPUs that its running jobs have."]
    allocated: Annotated[
        list[float | None], "Mean GPUs from each of `times` to the next; the last is `now`."
    ]
    used: Annotated[list[float | None], "null where less than half was measured."]
    allocated_hours: float
    measured_hours: float
    used_hours: float


class GpuTimeShape(TypedDict):
    hours: int
    times: Annotated[list[int], "Unix seconds."]
    gpus: Annotated[int | None, "How many there are; null for those who may not see nodes."]
    total: Annotated[list[float | None], "null where nothing was recorded."]
    teams: list[TeamGpuTimeShape]


def gpu_utilization_of(jobs: Sequence[Job]) -> dict[UUID, float]:
    """Return the mean GPU utilization (0 to 1) of running jobs over the last five minutes.

    Jobs that do not run, have no GPU or are not measured are left out. One statement.
    """
    return {pk: row["utilization"] for pk, row in running_utilization_of(jobs).items()}


def running_utilization_of(jobs: Sequence[Job]) -> dict[UUID, dict[str, Any]]:
    """Return `utilization` (0 to 1, last five minutes) and `recent` of running jobs.

    `recent` is the utilization per five minutes of the last six hours, oldest first; of an array
    only of the task that has run longest. One statement.
    """
    active = [
        job.id
        for job in jobs
        if job.resources.get("gpu") and State.DISPATCHING < job.state < State.SUCCEEDED
    ]
    if not active:
        return {}
    rows = AttemptUtilization.objects.filter(
        job__in=active, at__gt=clock.now() - FRESH, utilization__isnull=False
    )
    by_job: dict[UUID, list[tuple[float, list[float | None]]]] = defaultdict(list)
    for job, use, recent in rows.values_list("job_id", "utilization", "recent"):
        by_job[job].append((use, recent))
    return {
        job: {
            "utilization": round(sum(use for use, _ in some) / len(some), 3),
            "recent": max((recent for _, recent in some), key=len),
        }
        for job, some in by_job.items()
    }


def gpu_utilization_of_nodes(nodes: Collection[UUID] | None = None) -> dict[UUID, dict[str, float]]:
    """Return the utilization (0 to 1) of GPUs over the last five minutes by node and GPU index.

    `nodes` None returns all nodes. One statement.
    """
    rows = NodeUtilization.objects.filter(at__gt=clock.now() - FRESH)
    rows = rows if nodes is None else rows.filter(node__in=nodes)
    return dict(rows.values_list("node_id", "gpus"))


def gpu_time_of(actor: Actor, hours: int) -> GpuTimeShape:
    """Return allocated, used and total GPUs of the teams whose jobs the actor may read.

    `hours` is 24 or 168. `times` are Unix seconds; a value is the mean until the next one, and the
    last `allocated` is what the team has `now`. `used`
    is null where less than half was measured, `total` where nothing was recorded. `gpus` is how many
    there are now. Both are null for those who may not see nodes. At most a minute old; else three
    statements.
    """
    teams = actor.teams_where(Permission.JOBS_READ)
    may_see_total = actor.may(Permission.NODES_READ)
    whose = "all" if teams is None else "-".join(sorted(team.hex for team in teams))
    digest = sha256(f"{whose} {may_see_total}".encode()).hexdigest()[:32]
    key = f"gpu-hours:{actor.org_id}:{hours}:{digest}"
    found: GpuTimeShape | None = cache.get(key)
    if found is None:
        found = _gpu_time(teams, hours)
        if not may_see_total:
            found = {**found, "total": [None for _ in found["total"]], "gpus": None}
        cache.set(key, found, KEPT_FOR)
    return found


def _gpu_time(teams: Collection[UUID] | None, hours: int) -> GpuTimeShape:
    width = WIDTHS[hours]
    end = int(clock.now().timestamp()) // width * width
    times = list(range(end - hours * 3600, end + 1, width))
    since = datetime.fromtimestamp(times[0], UTC)
    at: dict[datetime, int] = {}

    def place(start: datetime) -> int:
        if start not in at:
            at[start] = (int(start.timestamp()) - times[0]) // width
        return at[start]

    cells: dict[UUID, list[list[int]]] = defaultdict(lambda: [[0, 0, 0] for _ in times])
    for team, start, allocated, measured, used in _gpu_times(teams, hours, since):
        cell = cells[team][place(start)]
        cell[0] += allocated
        cell[1] += measured
        cell[2] += used
    now = gpu_use.allocated_by(
        "job__team_id", **({} if teams is None else {"job__team_id__in": teams})
    )
    totals: list[list[int]] = [[] for _ in times]
    rows = list(GpuCapacity.objects.filter(start__gte=since).values_list("start", "gpus"))
    for start, gpus in rows:
        totals[place(start)].append(gpus)
    recorded = [len(some) * PERIOD for some in totals]
    return {
        "hours": hours,
        "times": times,
        "gpus": max(rows)[1] if rows else None,
        "total": [round(sum(some) / len(some), 2) if some else None for some in totals],
        "teams": [
            {
                "slug": team.slug,
                "name": team.name,
                "now": now[team.id],
                "allocated": [
                    *(_mean(c[0], ms) for c, ms in zip(some[:-1], recorded, strict=False)),
                    now[team.id],
                ],
                "used": [_used(c, ms) for c, ms in zip(some, recorded, strict=True)],
                "allocated_hours": round(sum(c[0] for c in some) / HOUR_MS, 1),
                "measured_hours": round(sum(c[1] for c in some) / HOUR_MS, 1),
                "used_hours": round(sum(c[2] for c in some) / HOUR_MS, 1),
            }
            for team in Team.objects.filter(id__in={*cells, *now}).order_by("name")
            for some in [cells[team.id]]
        ],
    }


def _gpu_times(teams: Collection[UUID] | None, hours: int, since: datetime) -> Any:
    """Return rows of (team, start, allocated, measured, used), added up by hour for a week."""
    rows = GpuTime.objects.filter(start__gte=since)
    rows = rows if teams is None else rows.filter(team__in=teams)
    amounts = ("allocated", "measured", "used")
    if hours <= 24:
        return rows.values_list("team_id", "start", *amounts).iterator()
    added = {f"{name}_sum": Cast(Sum(name), BigIntegerField()) for name in amounts}
    by_hour = rows.annotate(hour=TruncHour("start", tzinfo=UTC)).values_list("team_id", "hour")
    return by_hour.annotate(**added).iterator()


def _used(gpu_ms: Sequence[int], ms: int) -> float | None:
    """Return the mean used GPUs; what was not measured counts as the rest, up to half of it."""
    allocated, measured, used = gpu_ms
    if not allocated:
        return _mean(0, ms)
    return _mean(round(used * allocated / measured), ms) if measured * 2 > allocated else None


def _mean(gpu_ms: int, ms: int) -> float | None:
    return round(gpu_ms / ms, 2) if ms else None
