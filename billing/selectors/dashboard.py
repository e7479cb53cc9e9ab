"""GPU time, waste and statistics for dashboards, from rollups. Nothing is computed per job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Max, Min, Sum
from django.db.models.functions import Cast

from billing import statistics
from billing.amounts import HOUR_MS, midnight, parsed_day
from billing.models import (
    AttemptGpuTime,
    FleetGpuTime,
    FleetJobDay,
    FleetQueueHour,
    JobDay,
    Price,
    QueueHour,
    TeamGpuTime,
)
from billing.recording import HOURS_KEPT, recorded_until
from billing.selectors.access import visible_teams
from billing.services.prices import DEFAULT_CURRENCY, PriceList, account_of
from clusters.models import Cluster
from jobs.kinds.workload_kinds import page_of
from jobs.models import Attempt, Job
from jobs.utilization.recording import PERIOD
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team, User
from workspaces.tenancy.scope import org_scope, platform_scope

RANGES = {"24h": 1, "7d": 7, "30d": 30, "90d": 90}
HOURLY_UP_TO = 7  # days: charts by hour
TEAM_PARTS = ("used", "idle", "underused", "unmeasured", "reserved")
FLEET_PARTS = (*TEAM_PARTS, "unusable", "free", "capacity")
WASTE = ("idle", "underused", "reserved", "unusable")
MOST_JOBS = 20
LIKELY = 3  # times as many jobs are added up as are shown
WELL_USED = 0.85  # share of GPU time from which a job has nothing to mend
_WHY = "operators see the usage of every organization"


@dataclass(frozen=True)
class DashboardQuery:
    """What a dashboard shows: a span of time, and filters; empty ones show all.

    `org` None: the whole installation. `teams` None: all of the organization. `is_daily`: whole
    days, of which there are sums.
    """

    first: datetime
    last: datetime
    is_daily: bool
    range: str = ""
    org: Organization | None = None
    teams: frozenset[UUID] | None = None
    team: str = ""
    pool: str = ""
    gpu_class: str = ""
    cluster: str = ""
    cluster_id: UUID | None = None

    @property
    def days(self) -> tuple[date, date]:
        """Return the first and the last day."""
        return _days(self.first, self.last)

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is filtered but the organization."""
        return self.teams is None and not (self.pool or self.gpu_class or self.cluster)


def asked_of(actor: Actor, org: Organization | None, query: Mapping[str, str]) -> DashboardQuery:
    """Read a dashboard's query. Raises InvalidInput, NotFound, NotPermitted.

    Without `org` for operators: the installation, or the organization that the query names.
    """
    first, last, is_daily, name = _span(query)
    given: dict[str, Any] = {
        "pool": query.get("pool", "")[:40],
        "gpu_class": query.get("class", "")[:40],
        "cluster": query.get("cluster", "")[:40],
    }
    if given["cluster"]:
        given["cluster_id"] = _cluster(given["cluster"])
    if org is None:
        authorize(actor, Permission.CLUSTERS_READ)
        if slug := query.get("org", ""):
            org = Organization.objects.filter(slug=slug[:40]).first()
            if org is None:
                raise NotFound(Message("There is no such organization."))
        return DashboardQuery(first, last, is_daily, name, org, **given)
    teams = visible_teams(actor)
    if slug := query.get("team", ""):
        row = Team.objects.filter(slug=slug[:80]).first() if slug.isprintable() else None
        if row is None or (teams is not None and row.id not in teams):
            raise NotFound(Message("There is no team {x} that you can see.", x=slug[:40]))
        teams, given["team"] = frozenset({row.id}), row.slug
    return DashboardQuery(first, last, is_daily, name, org, teams, **given)


def _cluster(name: str) -> UUID:
    pk = Cluster.objects.filter(name=name).values_list("id", flat=True).first()
    if pk is None:
        raise NotFound(Message("There is no such cluster."))
    return pk


def _span(query: Mapping[str, str]) -> tuple[datetime, datetime, bool, str]:
    """Return first and last moment, whether by day, and the name of the range if it is one.

    A form sends its range and its dates: dates count if they are not those of the range.
    """
    name = query.get("range") or ""
    if name and name not in RANGES:
        raise InvalidInput.at("range", "must be 24h, 7d, 30d or 90d")
    given = query.get("first") or "", query.get("last") or ""
    if any(given):
        days = _given_days(*given)
        if not name or _days(*_range(name)[:2]) != days:
            start, end = midnight(days[0]), midnight(days[1] + timedelta(days=1))
            return start, end, True, ""
    return *_range(name or "7d"), name or "7d"


def _given_days(first: str, last: str) -> tuple[date, date]:
    try:
        days = (
            parsed_day(first or last),
            parsed_day(last or clock.now().date().isoformat()),
        )
    except ValueError as error:
        raise InvalidInput.at("first", "must be a date such as 2027-01-31") from error
    if not days[0] <= days[1] <= days[0] + timedelta(days=400):
        raise InvalidInput.at("last", "must be from the first day to 400 days later")
    return days


def _range(name: str) -> tuple[datetime, datetime, bool]:
    now, days = clock.now(), RANGES[name]
    if days > 1:
        end = midnight(now.date() + timedelta(days=1))
        return end - timedelta(days=days), end, True
    end = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return end - timedelta(days=days), end, False


def _days(first: datetime, last: datetime) -> tuple[date, date]:
    return first.date(), (last - timedelta(microseconds=1)).date()


@dataclass
class GpuTimes:
    """GPU time of a span. `times` are Unix seconds; `curves` mean GPUs, null where nothing is known.

    `totals` are GPU-milliseconds by part. Of the fleet, `power` is the mean power of measured GPUs
    in watts, and `totals` has their `energy` (joules), and for how long they were `metered`.
    """

    times: list[int]
    curves: dict[str, list[float | None]]
    totals: dict[str, int]
    power: list[float | None] = field(default_factory=list)


def gpu_times(asked: DashboardQuery) -> GpuTimes:
    """Return GPU time by hour or day, and grouped by team, organization, class and pool."""
    is_fleet = asked.org is None
    is_short = asked.last - asked.first <= timedelta(days=HOURLY_UP_TO)
    if is_short and asked.first >= clock.now() - HOURS_KEPT:
        asked = replace(asked, is_daily=False)
    width = 86_400 if asked.is_daily else 3600
    start, end = int(asked.first.timestamp()), int(asked.last.timestamp())
    times = list(range(start, end, width))
    names = (*FLEET_PARTS, *_FLEET_FACTS) if is_fleet else TEAM_PARTS
    sums: dict[int, dict[str, int]] = {}
    with platform_scope(_WHY) if is_fleet else org_scope(asked.org.id):  # type: ignore[union-attr]
        rows = _rows(FleetGpuTime if is_fleet else TeamGpuTime, asked)
        for row in _added(rows, ("hour",), names):
            sums[(int(row["hour"].timestamp()) - start) // width] = row
    known = max(sums, default=-1)
    first = min(sums, default=0)
    until = recorded_until()
    curves: dict[str, list[float | None]] = {}
    for name, of in _CURVES.items():
        if is_fleet or set(of) <= set(TEAM_PARTS):
            curves[name] = [
                round(sum(sums[at][part] for part in of) / _lasted(t, width, until), 3)
                if at in sums
                else (0.0 if first <= at <= known and not is_fleet else None)
                for at, t in enumerate(times)
            ]
    totals = {name: sum(row[name] for row in sums.values()) for name in names}
    power = [
        round(1000 * sums[at]["energy"] / _lasted(t, width, until), 1)
        if is_fleet and sums.get(at, {}).get("metered")
        else None
        for at, t in enumerate(times)
    ]
    return GpuTimes(times, curves, totals, power)


def gpu_times_by(
    asked: DashboardQuery, by: str, whole: GpuTimes, most: int = 7
) -> list[tuple[str, list[float | None]]]:
    """Return the allocated GPUs over time of the teams or organizations (`by`) that had most.

    Names and curves, which add up to `whole`; what is left is the last one, without a name.
    """
    key = {"team": "team_id", "org": "org_id"}[by]
    is_short = asked.last - asked.first <= timedelta(days=HOURLY_UP_TO)
    if is_short and asked.first >= clock.now() - HOURS_KEPT:
        asked = replace(asked, is_daily=False)
    names = _CURVES["allocated"]
    with platform_scope(_WHY) if asked.org is None else org_scope(asked.org.id):
        rows = _rows(TeamGpuTime, asked)
        sums = {row[key]: sum(row[name] for name in names) for row in _added(rows, (key,), names)}
        top = sorted((one for one in sums if sums[one]), key=lambda one: (-sums[one], str(one)))
        labels = _labels(by, top[:most])
        parts = _added(rows.filter(**{f"{key}__in": top[:most]}), (key, "hour"), names)
    width = 86_400 if asked.is_daily else 3600
    until, places = recorded_until(), {t: at for at, t in enumerate(whole.times)}
    curves = {one: [0.0] * len(places) for one in top[:most]}
    for row in parts:
        start = int(row["hour"].timestamp())
        allocated = sum(row[name] for name in names) / _lasted(start, width, until)
        curves[row[key]][places[start]] = round(allocated, 3)
    total = whole.curves["allocated"]
    rest = [max(0, (n or 0) - sum(ns)) for n, *ns in zip(total, *curves.values(), strict=True)]
    found = [(labels.get(one, (str(one), ""))[0], curve) for one, curve in curves.items()]
    if max(rest, default=0) > 0.05:
        found.append(("", rest))
    return [
        (name, [None if n is None else value for n, value in zip(total, curve, strict=True)])
        for name, curve in found
    ]


def power_now(asked: DashboardQuery) -> tuple[float | None, datetime]:
    """Return the power of the measured GPUs of the fleet in watts, when it was last recorded."""
    at = datetime.fromtimestamp(recorded_until() / 1000, UTC)
    hour = (at - timedelta(milliseconds=1)).replace(minute=0, second=0, microsecond=0)
    now = replace(asked, first=hour, last=hour + timedelta(hours=1), is_daily=False)
    return _rows(FleetGpuTime, now).aggregate(n=Sum("watts"))["n"], at


_FLEET_FACTS = ("unhealthy", "energy", "metered")
_CURVES = {
    "capacity": ("capacity",),
    "allocated": ("used", "idle", "underused", "unmeasured"),
    "in_use": ("used", "underused", "unmeasured"),
    "useful": ("used",),
    "underused": ("underused",),
    "idle": ("idle",),
    "unmeasured": ("unmeasured",),
    "reserved": ("reserved",),
    "unhealthy": ("unhealthy",),
}


def _lasted(start: int, width: int, until: int) -> int:
    """Return the milliseconds of a period that are recorded."""
    recorded = min(until - start * 1000, width * 1000)
    return recorded if recorded >= PERIOD else width * 1000


def _rows(model: Any, asked: DashboardQuery) -> Any:
    rows = model.objects.filter(
        is_day=asked.is_daily, hour__gte=asked.first, hour__lt=asked.last
    ).order_by()
    for name, value in (
        ("pool", asked.pool),
        ("gpu_class", asked.gpu_class),
        ("cluster_id", asked.cluster_id),
    ):
        if value:
            rows = rows.filter(**{name: value})
    if model is not FleetGpuTime and asked.teams is not None:
        rows = rows.filter(team__in=asked.teams)
    if model is AttemptGpuTime and asked.org is not None:
        rows = rows.filter(org=asked.org)
    return rows


def _added(rows: Any, keys: Collection[str], names: Iterable[str]) -> list[dict[str, Any]]:
    """Return sums by keys, as integers."""
    sums = {f"{name}_sum": Cast(Sum(name), BigIntegerField()) for name in names}
    return [
        {key: row[key] for key in keys} | {name: int(row[f"{name}_sum"] or 0) for name in names}
        for row in rows.values(*keys).annotate(**sums)
    ]


def groups_of(asked: DashboardQuery, by: str, limit: int = 50) -> list[dict[str, Any]]:
    """Return GPU time by `team`, `org`, `gpu_class`, `pool` or `cluster_id`, most waste first."""
    is_fleet = asked.org is None and by not in ("team", "org")
    key = {"team": "team_id", "org": "org_id"}.get(by, by)
    names = FLEET_PARTS if is_fleet else TEAM_PARTS
    scope = platform_scope(_WHY) if asked.org is None else org_scope(asked.org.id)
    with scope:
        rows = _added(_rows(FleetGpuTime if is_fleet else TeamGpuTime, asked), (key,), names)
        labels = _labels(by, [row[key] for row in rows])
    for row in rows:
        row["label"], row["slug"] = labels.get(row[key], (str(row[key]) or "–", str(row[key])))
        row["allocated"] = row["used"] + row["idle"] + row["underused"] + row["unmeasured"]
        measured = row["allocated"] - row["unmeasured"]
        row["use"] = row["used"] / measured if measured else None
        row["waste"] = row["idle"] + row["underused"] + row["reserved"] + row.get("unusable", 0)
    return sorted(rows, key=lambda row: (-row["waste"], -row["allocated"], row["label"]))[:limit]


def _labels(by: str, ids: list[Any]) -> dict[Any, tuple[str, str]]:
    model: Any = {"team": Team, "org": Organization}.get(by)
    if model:
        rows = model.objects.filter(id__in=ids)
        return {row.id: (row.name, row.slug) for row in rows}
    if by == "cluster_id":
        return {row.id: (row.name, row.name) for row in Cluster.objects.filter(id__in=ids)}
    return {}


@dataclass(frozen=True)
class Bucket:
    """One part of the capacity: GPU-milliseconds, its share, and its price at today's prices."""

    name: str
    amount: int
    share: float
    cost: Decimal | None
    offset: float = 0.0  # share of those before it

    @property
    def hours(self) -> float:
        return self.amount / HOUR_MS

    @property
    def is_waste(self) -> bool:
        return self.name in WASTE


def buckets_of(asked: DashboardQuery, prices: PriceList) -> list[Bucket]:
    """Return the parts, which add up to the capacity, or to what teams had."""
    is_fleet = asked.org is None
    names = tuple(n for n in (FLEET_PARTS if is_fleet else TEAM_PARTS) if n != "capacity")
    scope = platform_scope(_WHY) if asked.org is None else org_scope(asked.org.id)
    with scope:
        model = FleetGpuTime if is_fleet else TeamGpuTime
        rows = _added(_rows(model, asked), ("gpu_class",), names)
    amounts = {name: sum(row[name] for row in rows) for name in names}
    whole = sum(amounts.values())
    found, before = [], 0
    for name in names:
        cost = cost_of((row["gpu_class"], row[name]) for row in rows)(prices)
        share = amounts[name] / whole if whole else 0.0
        found.append(Bucket(name, amounts[name], share, cost, before / whole if whole else 0.0))
        before += amounts[name]
    return found


def cost_of(parts: Iterable[tuple[str, int]]) -> Any:
    """Return a function of a price list that adds up GPU time of classes at today's prices."""
    kept = list(parts)

    def of(prices: PriceList) -> Decimal | None:
        today, total = clock.now().date(), None
        for gpu_class, amount in kept:
            price = prices.hourly(gpu_class, today, None)
            if price is not None:
                total = (total or Decimal()) + price * amount / HOUR_MS
        return total

    return of


def prices_for(asked: DashboardQuery) -> PriceList:
    """Return the price list of the organization, or of the installation's main currency."""
    if asked.org is not None:
        with org_scope(asked.org.id):
            account = account_of(asked.org.id)
            return PriceList(account.currency, asked.org.id)
    currencies = list(
        Price.objects.order_by("currency").values_list("currency", flat=True).distinct()
    )
    default = DEFAULT_CURRENCY in currencies or not currencies
    return PriceList(DEFAULT_CURRENCY if default else currencies[0])


def wasters(
    asked: DashboardQuery, prices: PriceList, limit: int = MOST_JOBS
) -> list[dict[str, Any]]:
    """Return the jobs that wasted most GPU time, with one piece of advice each.

    Of whole days, the jobs are known that wasted most in their team on a day. Those of a whole
    organization are looked for among its attempts that wasted most in an hour or a day.
    """
    scope = platform_scope(_WHY) if asked.org is None else org_scope(asked.org.id)
    with scope:
        rows = _rows(AttemptGpuTime, asked)
        sums = {
            name: Cast(Sum(name), BigIntegerField())
            for name in ("idle", "underused", "used", "unmeasured")
        }
        wasted = Cast(Sum("idle") + Sum("underused"), BigIntegerField())
        if asked.is_whole:
            likely = rows.filter(is_top=True).values("job_id").annotate(wasted=wasted)
            ids = likely.order_by("-wasted").values_list("job_id", flat=True)[: LIKELY * limit]
            rows = rows.filter(job_id__in=list(ids))
        top = list(
            rows.values("job_id", "gpu_class")
            .annotate(wasted=wasted, **{f"{name}_sum": value for name, value in sums.items()})
            .filter(wasted__gt=0)
            .order_by("-wasted", "job_id")[:limit]
        )
        jobs = {
            job.id: job
            for job in Job.objects.filter(id__in=[row["job_id"] for row in top]).select_related(
                "team", "owner", "org"
            )
        }
    return [_waster(row, jobs[row["job_id"]], prices) for row in top if row["job_id"] in jobs]


def _waster(row: dict[str, Any], job: Job, prices: PriceList) -> dict[str, Any]:
    idle, underused, used = (int(row[f"{n}_sum"]) for n in ("idle", "underused", "used"))
    measured = idle + underused + used
    cost = cost_of([(row["gpu_class"], idle + underused)])(prices)
    gpus = int(job.resources.get("gpu", 0))
    return {
        "number": job.number,
        "name": job.name,
        "page": page_of(job),
        "org": job.org.slug,
        "team": job.team.slug,
        "owner": job.owner.email,
        "owner_name": job.owner.display_name,
        "gpu_class": row["gpu_class"],
        "gpus": gpus,
        "idle_hours": round(idle / HOUR_MS, 2),
        "underused_hours": round(underused / HOUR_MS, 2),
        "wasted_hours": round((idle + underused) / HOUR_MS, 2),
        "use": round(used / measured, 3) if measured else None,
        "cost": cost,
        "advice": advice(idle, underused, used, job),
    }


def advice(idle: int, underused: int, used: int, job: Job) -> str:
    """Return one piece of advice for a job that wastes GPU time."""
    gpus = int(job.resources.get("gpu", 0))
    if used >= WELL_USED * (idle + underused + used):
        return Message("Nothing: it uses its GPUs well, and is listed for its size.")
    if idle >= underused:
        if job.finished_at is None:
            return Message(
                "Its GPUs are idle. End it if it is done: muster job cancel {number}",
                number=job.number,
            )
        return Message("Its GPUs were mostly idle. Request fewer, or end it when it is done.")
    if gpus > 1:
        return Message(
            "Its {n} GPUs wait for each other or for data. Compare its speed with half of them.",
            n=gpus,
        )
    return Message("Its GPU waits for data. Try larger batches or more data loader workers.")


# Statistics


def facts_of(asked: DashboardQuery) -> dict[str, Any]:
    """Return the statistics of jobs that ended on these days, added up."""
    first, last = asked.days
    if asked.org is None:
        days: Iterable[Any] = FleetJobDay.objects.filter(day__gte=first, day__lte=last)
        return statistics.total(row.facts for row in days)
    with org_scope(asked.org.id):
        rows = JobDay.objects.filter(org=asked.org, day__gte=first, day__lte=last)
        rows = rows.filter(team=None) if asked.teams is None else rows.filter(team__in=asked.teams)
        return statistics.total(row.facts for row in rows)


def outcomes_of(asked: DashboardQuery) -> dict[str, list[int]]:
    """Return how many jobs succeeded, failed and were canceled on each day; `times` are Unix seconds."""
    first, last = asked.days
    names = ("ended", "failed", "canceled")
    columns = ("day", *(f"facts__{name}" for name in names))
    between = {"day__gte": first, "day__lte": last}
    sums: dict[date, list[int]] = defaultdict(lambda: [0, 0, 0])
    if asked.org is None:
        rows = list(FleetJobDay.objects.filter(**between).values_list(*columns))
    else:
        with org_scope(asked.org.id):
            some = JobDay.objects.filter(org=asked.org, **between)
            some = (
                some.filter(team=None) if asked.teams is None else some.filter(team__in=asked.teams)
            )
            rows = list(some.values_list(*columns))
    for day, *counts in rows:
        sums[day] = [a + (b or 0) for a, b in zip(sums[day], counts, strict=True)]
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    found = [sums[day] for day in days]
    return {
        "times": [int(midnight(day).timestamp()) for day in days],
        "succeeded": [ended - failed - canceled for ended, failed, canceled in found],
        "failed": [failed for _, failed, _ in found],
        "canceled": [canceled for _, _, canceled in found],
    }


def queue_of(asked: DashboardQuery) -> dict[str, list[Any]]:
    """Return how many jobs waited and ran, and the longest wait in minutes, by hour.

    The longest wait of the hour that is not over is that of the jobs that wait now, as in the queue.
    """
    between = {"hour__gte": asked.first, "hour__lt": asked.last}
    names = ("queued", "running", "longest")
    if asked.org is None:
        rows = FleetQueueHour.objects.filter(**between).order_by("hour")
        found = list(rows.values_list("hour", *names))
    else:
        with org_scope(asked.org.id):
            some = QueueHour.objects.filter(org=asked.org, **between)
            some = (
                some.filter(team=None) if asked.teams is None else some.filter(team__in=asked.teams)
            )
            sums = {
                "queued_sum": Sum("queued"),
                "running_sum": Sum("running"),
                "most": Max("longest"),
            }
            found = list(some.order_by("hour").values_list("hour").annotate(**sums))
    if found and found[-1][0] <= clock.now() < found[-1][0] + timedelta(hours=1):
        found[-1] = (*found[-1][:3], _longest_now(asked))
    return {
        "times": [int(hour.timestamp()) for hour, *_ in found],
        "queued": [queued for _, queued, _, _ in found],
        "running": [running for _, _, running, _ in found],
        "longest": [round(longest / 60, 1) for _, _, _, longest in found],
    }


def _longest_now(asked: DashboardQuery) -> float:
    """Return the seconds that the oldest pending job has waited; 0 without one."""
    with org_scope(asked.org.id) if asked.org else platform_scope("the queue of all"):
        rows = Attempt.objects.filter(state=State.QUEUED, is_current=True)
        if asked.org and asked.teams is not None:
            rows = rows.filter(job__team__in=asked.teams)
        oldest = rows.aggregate(at=Min("queued_at"))["at"]
    return (clock.now() - oldest).total_seconds() if oldest else 0.0


def people_of(ids: Iterable[str]) -> dict[str, User]:
    """Return the users by id."""
    known = [UUID(pk) for pk in ids]
    return {str(user.id): user for user in User.objects.filter(id__in=known)}


def choices_of(asked: DashboardQuery) -> dict[str, list[str]]:
    """Return the classes, pools and clusters that the rollups of this span know."""
    scope = platform_scope(_WHY) if asked.org is None else org_scope(asked.org.id)
    plain = DashboardQuery(
        asked.first, asked.last, asked.is_daily, org=asked.org, teams=asked.teams
    )
    with scope:
        rows = _rows(FleetGpuTime if asked.org is None else TeamGpuTime, plain)
        found = list(rows.values_list("gpu_class", "pool", "cluster_id").distinct())
        clusters = Cluster.objects.filter(id__in={row[2] for row in found})
    return {
        "classes": sorted({row[0] for row in found}),
        "pools": sorted({row[1] for row in found if row[1]}),
        "clusters": sorted(cluster.name for cluster in clusters),
    }
