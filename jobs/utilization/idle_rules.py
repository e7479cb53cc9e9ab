"""Apply the rules for idle GPUs of pools: warn the owner, then stop the job or lower its priority.

What is measured is named in each event. SM activity and power say whether a GPU works; utilization
counts any kernel and is used where neither is known. What is not known is not idle: each GPU of the
job needs values for most of the window. A job whose ports are used is not idle, and a rule can ask
for that alone. Sessions, with GPUs or without, must also be unused by the clock of `interactive`.
The owner can keep a job for some hours.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from clusters.models import Pool
from jobs.kinds.workload_kinds import kind_of, kinds, page_of
from jobs.models import Attempt, IdleCase, IdleRule, Job
from jobs.ports.activity import last_uses
from jobs.services.change import authorize_change, cancel_job, change_job
from jobs.utilization.interactive import InteractiveUse, interactive_uses
from jobs.utilization.recording import GPU_UTILIZATION, MINUTE, ByGpu, sums_of_running
from portal.core import clock
from portal.core.errors import Conflict, InputErrors, InvalidInput, PortalError
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.shapes import Time
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
RULE = Actor(user_id=None, email="idle rule", name="Idle rule", is_operator=True)
COVERED = 0.8  # share of the window for which there must be values
LATEST = 10 * MINUTE  # age of the last value
MOST_KEPT = 72.0  # hours
EXEMPT = ("kind=session", "kind=debug")  # labels, of a new rule
PRIORITY_LOWERED = "low"
_UNITS = {"power": "W", "ports": "min", "session": "min"}
_EVER = datetime.fromtimestamp(0, UTC)
_RANGES = {"threshold": (1, 50), "window": (10, 1440), "grace": (5, 1440), "watts": (1, 2000)}
_FIELDS = (
    *("is_enabled", "metric", "threshold", "watts", "window", "action", "grace"),
    *("exempt", "spares_exec", "spares_ports"),
)


class IdleRuleShape(TypedDict):
    pool: str
    is_enabled: bool
    metric: Annotated[
        str,
        "auto: SM activity if known, else power with `watts`, else utilization. ports: requests.",
    ]
    threshold: Annotated[int, "Percent, of SM activity or utilization."]
    watts: Annotated[int | None, "Per GPU, for power."]
    window: Annotated[int, "Minutes below the threshold."]
    action: Annotated[str, "warn, lower or stop"]
    grace: Annotated[int, "Minutes from the warning to the action."]
    exempt: Annotated[list[str], "Labels: kind=session."]
    spares_exec: Annotated[bool, "Jobs in which somebody ran a command are left alone."]
    spares_ports: Annotated[bool, "Jobs whose ports were used are left alone."]
    changed_at: Time
    changed_by: str


class IdleFindingShape(TypedDict):
    number: int
    name: str
    organization: str
    team: str
    owner: str
    page: str
    gpus: int
    metric: str
    metric_title: str
    value: Annotated[str, "With its unit."]
    warned_at: Time | None
    acts_at: Time | None


@dataclass(frozen=True)
class Measure:
    """A metric that tells whether a GPU works; `below` is the limit in its unit."""

    metric: str
    title: Message
    name: str  # of the series
    below: float


@dataclass(frozen=True)
class Idle:
    """The finding that a job is idle: what was measured, and the highest mean of its GPUs."""

    job: Job
    measure: Measure
    value: float

    @property
    def shown(self) -> str:
        """The value with its unit: "54 W", "2.0%" or "75 min"."""
        unit = _UNITS.get(self.measure.metric)
        return f"{self.value:.0f} {unit}" if unit else f"{self.value:.1%}"


UNUSED = Measure("ports", Message("Without a request"), "", float("inf"))
FORGOTTEN = Measure("session", Message("Without use", context="text, sessions"), "", float("inf"))


def measures(rule: IdleRule) -> list[Measure]:
    """Return what a rule measures, the best first; the first one that is known counts."""
    ratio = rule.threshold / 100
    sm = Measure("sm", Message("SM activity", context="text, jobs"), "gpu.sm.active", ratio)
    power = Measure(
        "power",
        Message("Power", context="text, jobs, electricity"),
        "gpu.power",
        float(rule.watts or 0),
    )
    any_kernel = Measure(
        "utilization", Message("GPU utilization", context="text, jobs"), GPU_UTILIZATION, ratio
    )
    chosen = {"sm": [sm], "power": [power], "utilization": [any_kernel], "ports": []}
    best = [sm, *([power] if rule.watts else []), any_kernel]
    return chosen.get(rule.metric, best)


def apply_idle_rules() -> None:
    """Apply every enabled rule. A rule that fails is logged, and stops no other."""
    with platform_scope("rules of pools apply to jobs of every organization"):
        IdleCase.objects.filter(job__state__gte=State.SUCCEEDED).delete()
        for rule in IdleRule.objects.filter(is_enabled=True).select_related("pool"):
            try:
                _apply(rule)
            except Exception:
                log.exception("idle rule of pool %s failed", rule.pool.name)


def _apply(rule: IdleRule) -> None:
    idle = {one.job.id: one for one in idle_in(rule)}
    for one in idle.values():
        try:
            _escalate(rule, one)
        except PortalError as error:  # it has ended meanwhile, for example
            log.info("idle rule of pool %s, job %s: %s", rule.pool.name, one.job.number, error)
    over = IdleCase.objects.filter(
        job__pool=rule.pool, warned_at__isnull=False, acted_at=None
    ).exclude(job__in=list(idle))
    for case in over.select_related("job"):
        _end_case(case)


@transaction.atomic
def _escalate(rule: IdleRule, one: Idle) -> None:
    """Warn once; act when the time has come. A job kept meanwhile is left alone."""
    job = one.job
    case = _locked_case(job)
    now = clock.now()
    if _is_kept(case) or case.acted_at:
        return
    if case.warned_at is None:
        case.warned_at, case.action = now, str(rule.action)
        acts = rule.action != IdleRule.Action.WARN
        case.acts_at = now + timedelta(minutes=rule.grace) if acts else None
        case.save()
        _record("idle_warned", rule, one, minutes=rule.grace)
        return
    if rule.action == IdleRule.Action.WARN or case.acts_at is None or case.acts_at > now:
        return
    case.acted_at = now
    case.save(update_fields=["acted_at"])
    if rule.action == IdleRule.Action.STOP:
        _record("idle_stopped", rule, one)
        cancel_job(actor=RULE, job=job, why=_why(rule, one))
    else:
        _record("idle_lowered", rule, one)
        change_job(actor=RULE, job=job, priority=PRIORITY_LOWERED)


def _why(rule: IdleRule, one: Idle) -> Message:
    if one.measure is UNUSED:
        return Message(
            "Its ports were not used for {value}; pool {pool} stops such jobs after {limit}.",
            value=one.shown,
            pool=rule.pool.name,
            limit=_limit(rule, one.measure),
        )
    if one.measure is FORGOTTEN:
        return Message(
            "Nobody used it and nothing computed in it for {value}; pool {pool} stops such sessions "
            "after {limit}.",
            value=one.shown,
            pool=rule.pool.name,
            limit=_limit(rule, one.measure),
        )
    return Message(
        "{metric} of its GPUs was {value} for {n} minutes; pool {pool} stops jobs below {limit}.",
        metric=one.measure.title,
        value=one.shown,
        n=rule.window,
        pool=rule.pool.name,
        limit=_limit(rule, one.measure),
    )


def _locked_case(job: Job) -> IdleCase:
    IdleCase.objects.get_or_create(job=job, defaults={"org_id": job.org_id})
    return IdleCase.objects.select_for_update().get(job=job)  # type: ignore[no-any-return]


@transaction.atomic
def _end_case(case: IdleCase) -> None:
    """Forget a warning: the job is used again, or nothing is known of its GPUs.

    Unless the owner has kept the job since the case was read.
    """
    same = IdleCase.objects.filter(id=case.id, warned_at=case.warned_at, acted_at=None)
    if same.delete()[0] and not State(case.job.state).is_final:
        data = {"number": case.job.number}
        record(EventRecord("job.idle_ended", case.org_id, "job", case.job_id, RULE.email, data))


def _is_kept(case: IdleCase) -> bool:
    return case.keep_until is not None and case.keep_until > clock.now()


def _record(what: str, rule: IdleRule, one: Idle, **more: Any) -> None:
    data = {
        "number": one.job.number,
        "pool": rule.pool.name,
        "metric": one.measure.metric,
        "metric_title": str(one.measure.title),
        "value": one.shown,
        "threshold": _limit(rule, one.measure),
        "window": rule.window,
        "action": str(rule.action),
        **more,
    }
    record(EventRecord(f"job.{what}", one.job.org_id, "job", one.job.id, RULE.email, data))


def _limit(rule: IdleRule, measure: Measure) -> str:
    minutes = f"{rule.window} min"
    limits = {"power": f"{rule.watts} W", "ports": minutes, "session": minutes}
    return limits.get(measure.metric, f"{rule.threshold}%")


# Which jobs are idle


def idle_in(rule: IdleRule) -> list[Idle]:
    """Return the jobs that the rule applies to now. Run in a platform scope.

    Exempt jobs, jobs that their owner keeps, and those already ending are left out.
    """
    end = clock.now_ms() // MINUTE * MINUTE
    start = end - rule.window * MINUTE
    attempts = _attempts(rule, start)
    jobs = {attempt.job_id: attempt.job for attempt in attempts}
    left_out = _used_by_hand(rule, jobs) if rule.spares_exec else set()
    if rule.spares_ports or rule.metric == IdleRule.Metric.PORTS:
        since = clock.now() - timedelta(minutes=rule.window)
        others = [pk for pk, job in jobs.items() if not kind_of(job).is_interactive]
        left_out |= last_uses(others, since).keys()
    kept = set(
        IdleCase.objects.filter(job__in=jobs, keep_until__gt=clock.now()).values_list(
            "job_id", flat=True
        )
    )
    attempts = [
        attempt
        for attempt in attempts
        if attempt.job_id not in left_out | kept and not is_exempt(rule, attempt.job.labels)
    ]
    by_ports = rule.metric == IdleRule.Metric.PORTS
    plain = [one for one in attempts if not kind_of(one.job).is_interactive]
    found = dict(_unused(plain) if by_ports else _highest(rule, plain, start, end))
    found |= _forgotten(rule, [one for one in attempts if one not in plain], start, end)
    by_job: dict[UUID, list[tuple[Measure, float] | None]] = {}
    for attempt in attempts:
        by_job.setdefault(attempt.job_id, []).append(found.get(attempt.id))
    idle = []
    for job_id, results in by_job.items():
        known = [one for one in results if one is not None]
        if len(known) == len(results) and all(value < m.below for m, value in known):
            measure, value = max(known, key=lambda one: one[1])
            idle.append(Idle(jobs[job_id], measure, value))
    return idle


def _attempts(rule: IdleRule, start: int) -> list[Attempt]:
    """Return the running attempts of jobs that have run for the whole window."""
    by_ports = rule.metric == IdleRule.Metric.PORTS
    rows = Attempt.objects.filter(
        Q(job__kind__in=[kind.name for kind in kinds() if kind.is_interactive])
        | (Q(job__spec__has_key="ports") if by_ports else Q(job__resources__gpu__gt=0)),
        job__pool=rule.pool,
        job__kind__in=[kind.name for kind in kinds() if kind.has_idle_rules],
        job__cancel_asked_at=None,
        is_current=True,
        state=State.RUNNING,
    ).select_related("job__owner", "job__org", "job__team")
    young = {row.job_id for row in rows if not row.started_at or _ms(row.started_at) > start}
    return [row for row in rows if row.job_id not in young]


def _forgotten(
    rule: IdleRule, attempts: Collection[Attempt], start: int, end: int
) -> Iterator[tuple[UUID, tuple[Measure, float]]]:
    """Yield the minutes since the last use of interactive jobs that nobody used for the window."""
    since = datetime.fromtimestamp(start / 1000, UTC)
    uses = interactive_uses(attempts, since)
    unused = [one for one in attempts if uses[one.id].is_known and uses[one.id].last_at <= since]
    with_gpus = [one for one in unused if _judges_gpus(rule, one.job)]
    gpus = dict(_highest(rule, with_gpus, start, end))
    for one in unused:
        measured = gpus.get(one.id)
        is_idle = measured is not None and measured[1] < measured[0].below
        if one in with_gpus and not is_idle:  # its GPUs work, or nobody knows
            continue
        yield one.id, (FORGOTTEN, (clock.now() - uses[one.id].last_at) / timedelta(minutes=1))


def _judges_gpus(rule: IdleRule, job: Job) -> bool:
    """Return whether the GPUs of an interactive job must be idle, too."""
    return bool(job.resources.get("gpu")) and rule.metric != IdleRule.Metric.PORTS


@dataclass(frozen=True)
class IdleClock:
    """How far the rule of its pool is with an interactive job. `gpu`: what was measured, if anything."""

    rule: IdleRule
    case: IdleCase | None
    use: InteractiveUse
    has_gpus: bool
    gpu: Idle | None

    @property
    def gpus_unknown(self) -> bool:
        return self.has_gpus and self.gpu is None

    @property
    def gpus_work(self) -> bool:
        return self.gpu is not None and self.gpu.value >= self.gpu.measure.below

    @property
    def is_running(self) -> bool:
        """Whether time without use counts."""
        return self.use.is_known and not self.gpus_unknown and not self.gpus_work


def idle_clock(job: Job, attempt: Attempt) -> IdleClock | None:
    """Return the clock of an interactive job that runs; None if no rule applies to it."""
    rule = IdleRule.objects.filter(pool=job.pool_id, is_enabled=True).select_related("pool").first()
    if rule is None or is_exempt(rule, job.labels) or State(attempt.state) is not State.RUNNING:
        return None
    end = clock.now_ms() // MINUTE * MINUTE
    start = end - rule.window * MINUTE
    uses = interactive_uses([attempt], datetime.fromtimestamp(start / 1000, UTC))
    has_gpus = _judges_gpus(rule, job)
    gpu = dict(_highest(rule, [attempt], start, end)).get(attempt.id) if has_gpus else None
    idle = Idle(job, *gpu) if gpu else None
    return IdleClock(rule, idle_case(job), uses[attempt.id], has_gpus, idle)


def _unused(attempts: Collection[Attempt]) -> Iterator[tuple[UUID, tuple[Measure, float]]]:
    """Yield for each attempt the minutes since the last use of its job's ports, or its start."""
    now = clock.now()
    uses = last_uses({attempt.job_id for attempt in attempts}, _EVER)
    for attempt in attempts:
        since = uses.get(attempt.job_id) or attempt.started_at
        assert since is not None
        yield attempt.id, (UNUSED, (now - since) / timedelta(minutes=1))


def _highest(
    rule: IdleRule, attempts: Collection[Attempt], start: int, end: int
) -> Iterator[tuple[UUID, tuple[Measure, float]]]:
    """Yield for each attempt the measure that is known, and the highest mean of its GPUs."""
    rest = {attempt.id: int(attempt.job.resources["gpu"]) for attempt in attempts}
    for measure in measures(rule):
        sums = sums_of_running(set(rest), start, end, measure.name)
        for attempt_id, by_gpu in sums.items():
            if (value := _mean_of_busiest(by_gpu, rest[attempt_id], start, end)) is not None:
                del rest[attempt_id]
                yield attempt_id, (measure, value)
        if not rest:
            return


def _mean_of_busiest(by_gpu: ByGpu, gpus: int, start: int, end: int) -> float | None:
    """Return the highest mean over the window, None if not all GPUs are known for most of it.

    They must be known now as well: a fifth of a day is long enough to begin to work.
    """
    least = COVERED * (end - start) / MINUTE
    known = [s for s in by_gpu.values() if len(s) >= least and max(s) >= end - LATEST]
    if len(known) < gpus:
        return None
    return max(
        sum(total for total, _ in sums.values()) / sum(count for _, count in sums.values())
        for sums in known
    )


def _used_by_hand(rule: IdleRule, jobs: Iterable[UUID]) -> set[UUID | None]:
    """Return the jobs in which somebody ran a command within the window."""
    since = clock.now() - timedelta(minutes=rule.window)
    rows = Event.objects.filter(subject_id__in=list(jobs), kind="job.command_run", at__gt=since)
    return set(rows.values_list("subject_id", flat=True))


def is_exempt(rule: IdleRule, labels: Mapping[str, Any]) -> bool:
    """Return whether a job with these labels is left alone."""
    for word in rule.exempt:
        name, equals, value = word.partition("=")
        if name in labels and (not equals or str(labels[name]) == value):
            return True
    return False


# What people do


@transaction.atomic
def keep_job(*, actor: Actor, job: Job, hours: float) -> datetime:
    """Keep a job from the rule for some hours; return until when.

    Raises InvalidInput, NotPermitted, and Conflict if the job has ended or is ending.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    if not 0 < hours <= MOST_KEPT:
        raise InvalidInput.at(
            "hours", Message("must be at most {n}", context="error of a field", n=f"{MOST_KEPT:g}")
        )
    case = _locked_case(job)  # as the rule does before it acts
    row = Job.objects.get(id=job.id)
    if State(row.state).is_final or row.cancel_asked_at:
        raise Conflict(Message("#{number} has ended or is ending.", number=row.number))
    until = clock.after(hours * 3600)
    case.keep_until, case.kept_by = until, actor.email
    case.warned_at = case.acts_at = case.acted_at = None
    case.save()
    data = {"number": row.number, "hours": hours, "after": {"keep_until": until.isoformat()}}
    record(EventRecord("job.idle_kept", row.org_id, "job", row.id, actor.email, data))
    return until


def idle_case(job: Job) -> IdleCase | None:
    """Return what a rule did or will do to a job that runs."""
    if State(job.state).is_final:
        return None
    return IdleCase.objects.filter(job=job).first()


def new_rule(pool: Pool) -> IdleRule:
    """Return a rule with the defaults, not saved."""
    return IdleRule(pool=pool, exempt=[*EXEMPT])


@transaction.atomic
def set_idle_rule(*, actor: Actor, pool: Pool, **given: Any) -> IdleRule:
    """Create or change the rule of a pool; omitted fields stay. Warnings begin anew.

    Raises InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    Pool.objects.select_for_update().get(id=pool.id)
    rule = IdleRule.objects.filter(pool=pool).first() or new_rule(pool)
    before = {name: getattr(rule, name) for name in _FIELDS} if rule.pk else {}
    errors = InputErrors()
    for name, value in given.items():
        with errors:
            setattr(rule, name, _checked(name, value))
    with errors:
        if rule.metric == IdleRule.Metric.POWER and not rule.watts:
            raise InvalidInput.at("watts", Message("is required to measure power"))
    errors.raise_all()
    rule.changed_at, rule.changed_by = clock.now(), actor.email
    rule.save()
    _forget_warnings(pool)
    after = {name: getattr(rule, name) for name in _FIELDS}
    data = {"name": pool.name, **changes(before, after)}
    record(EventRecord("pool.idle_rule_changed", None, "pool", pool.id, actor.email, data))
    return rule


@transaction.atomic
def delete_idle_rule(*, actor: Actor, pool: Pool) -> None:
    """Delete the rule of a pool, and its warnings. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    rule = IdleRule.objects.filter(pool=pool).first()
    if rule is not None:
        before = {name: getattr(rule, name) for name in _FIELDS}
        rule.delete()
        _forget_warnings(pool)
        data = {"name": pool.name, "before": before}
        record(EventRecord("pool.idle_rule_deleted", None, "pool", pool.id, actor.email, data))


def _forget_warnings(pool: Pool) -> None:
    with platform_scope("warnings to jobs of every organization end with the rule"):
        IdleCase.objects.filter(job__pool=pool, acted_at=None).update(warned_at=None, acts_at=None)


def would_stop(actor: Actor, pool: Pool) -> list[IdleFindingShape]:
    """Return what the rule of a pool finds now, also if it is disabled. Operators only."""
    authorize(actor, Permission.CLUSTERS_READ)
    rule = IdleRule.objects.filter(pool=pool).select_related("pool").first()
    if rule is None:
        return []
    with platform_scope("operators see what a rule would do to every organization"):
        found = idle_in(rule)
        cases = {
            case.job_id: case
            for case in IdleCase.objects.filter(job__in=[one.job.id for one in found])
        }
    rows = [_found_row(one, cases.get(one.job.id)) for one in found]
    return sorted(rows, key=lambda row: -row["gpus"])


def _found_row(one: Idle, case: IdleCase | None) -> IdleFindingShape:
    job = one.job
    return {
        "number": job.number,
        "name": job.name,
        "organization": job.org.slug,
        "team": job.team.slug,
        "owner": job.owner.email,
        "page": page_of(job),
        "gpus": int(job.resources.get("gpu", 0)),
        "metric": one.measure.metric,
        "metric_title": one.measure.title,
        "value": one.shown,
        "warned_at": case.warned_at if case else None,
        "acts_at": case.acts_at if case else None,
    }


def rule_row(rule: IdleRule) -> IdleRuleShape:
    """Return a rule as the API does."""
    return {
        "pool": rule.pool.name,
        "is_enabled": rule.is_enabled,
        "metric": rule.metric,
        "threshold": rule.threshold,
        "watts": rule.watts,
        "window": rule.window,
        "action": rule.action,
        "grace": rule.grace,
        "exempt": rule.exempt,
        "spares_exec": rule.spares_exec,
        "spares_ports": rule.spares_ports,
        "changed_at": rule.changed_at,
        "changed_by": rule.changed_by,
    }


def _checked(name: str, value: Any) -> Any:
    """Validate one field of a rule. Raises InvalidInput."""
    if name in _RANGES:
        least, most = _RANGES[name]
        if name == "watts" and value in (None, ""):
            return None
        if not str(value).isdecimal() or not least <= int(value) <= most:
            raise InvalidInput.at(name, Message("must be from {a} to {b}", a=least, b=most))
        return int(value)
    if name in ("metric", "action"):
        allowed = (IdleRule.Metric if name == "metric" else IdleRule.Action).values
        if value not in allowed:
            raise InvalidInput.at(
                name,
                Message(
                    "must be one of {names}", context="error of a field", names=", ".join(allowed)
                ),
            )
    if name == "exempt":
        fits = isinstance(value, list) and len(value) <= 20
        if not fits or not all(
            isinstance(w, str) and w.isprintable() and 0 < len(w) <= 120 for w in value
        ):
            raise InvalidInput.at(name, Message("must be at most 20 labels such as kind=debug"))
    return value


def _ms(at: datetime | None) -> int:
    assert at is not None
    return round(at.timestamp() * 1000)
