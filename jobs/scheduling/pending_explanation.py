"""Explain why a job is pending: reason, numbers, blocking jobs, smallest change and history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.dispatch.claims import request_of
from jobs.dispatch.job_status import verdict_of
from jobs.models import Attempt, Dependency, Job, PendingSpell
from jobs.scheduling import quota_limits
from jobs.scheduling.blocking_jobs import line, offer, reported_blockers, reported_change
from jobs.scheduling.pending_summary import (
    IN_CLUSTER_QUEUE,
    BlockerShape,
    PendingShape,
    PendingSpellShape,
    is_pending,
    silence_of,
    wait_text,
)
from jobs.scheduling.snapshot import snapshot_of
from portal.core import clock
from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers import explanations
from schedulers.capacity import AmountChange, ResourceRequest
from schedulers.states import State, Wait
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

HOLDERS = 5


@dataclass(frozen=True)
class PendingExplanation:
    """The explanation of a pending job.

    `text`: one sentence. `numbers`: its facts. `holders`: jobs that use the missing resource, as the
    viewer may see them. `change`: the smallest that would start the job now. `history`: reasons so
    far, oldest first.
    """

    code: str
    text: str
    since: datetime
    numbers: Mapping[str, Any]
    holders: list[BlockerShape] = field(default_factory=list)
    change: dict[str, Any] | None = None
    advice: str = ""
    history: list[PendingSpellShape] = field(default_factory=list)

    @property
    def is_starting(self) -> bool:
        """Nothing is missing: an expected start would only confuse."""
        return self.code == Wait.EVALUATING

    def as_dict(self) -> PendingShape:
        return {
            "code": self.code,
            "text": self.text,
            "since": self.since,
            "numbers": dict(self.numbers),
            "holders": self.holders,
            "change": self.change,
            "advice": self.advice,
            "history": self.history,
        }


def explanation_of(job: Job, viewer: Actor) -> PendingExplanation | None:
    """Compute the explanation; None for a job that is not pending.

    A job that its cluster could not accept is pending, too.
    """
    attempt = (
        Attempt.objects.select_related("job", "cluster")
        .filter(job=job, is_current=True, state=job.state)
        .order_by("index")
        .first()
    )
    if attempt is None or not (
        is_pending(job) or (attempt.state == State.DISPATCHING and attempt.tries)
    ):
        return None
    if attempt.state in IN_CLUSTER_QUEUE:
        return _scheduler_answer(attempt, viewer)
    wait, facts, change = _judge(job, attempt)
    since = attempt.wait_since or attempt.queued_at
    if wait == Wait.CLUSTER_DOWN:
        since = attempt.cluster.trouble_since or since
    mine = {"is_you": True} if job.owner_id == viewer.user_id else {}
    return PendingExplanation(
        code=str(wait),
        text=wait_text(wait, {**facts, **mine} if facts else facts),
        since=since,
        numbers=facts,
        holders=_holders(job, wait, facts, viewer),
        change=_offer(change),
        advice=quota_limits.advice(facts),
        history=_history(attempt),
    )


def _scheduler_answer(attempt: Attempt, viewer: Actor) -> PendingExplanation:
    """Return the explanation of the scheduler behind the cluster."""
    facts = attempt.wait_facts
    return PendingExplanation(
        code=attempt.wait,
        text=wait_text(Wait(attempt.wait), facts),
        since=attempt.wait_since or attempt.state_at,
        numbers=explanations.without_private(facts),
        holders=reported_blockers(facts, viewer),
        change=reported_change(facts),
        advice=Message(facts.get("advice", "")),
        history=_history(attempt),
    )


def _history(attempt: Attempt) -> list[PendingSpellShape]:
    return [
        {
            "code": s.wait,
            "text": wait_text(Wait(s.wait), s.facts),
            "since": s.since,
            "until": s.until,
        }
        for s in PendingSpell.objects.filter(attempt=attempt).order_by("since")[:200]
    ]


def _judge(job: Job, attempt: Attempt) -> tuple[Wait, Mapping[str, Any], AmountChange | None]:
    if job.is_held:
        return Wait.HELD, {}, None
    is_ready, _ = verdict_of([job])[job]
    if not is_ready:
        open_needs = [
            n.needs
            for n in Dependency.objects.filter(job=job).select_related("needs")
            if not State(n.needs.state).is_final
        ]
        return Wait.DEPENDENCY, {"jobs": [n.number for n in open_needs]}, None
    if attempt.cluster.trouble:
        return Wait.CLUSTER_DOWN, silence_of(attempt.cluster), None
    if attempt.state == State.DISPATCHING:
        return (
            Wait.CLUSTER_DOWN,
            {"said": attempt.evidence, "tries": attempt.tries, "cluster": attempt.cluster.name},
            None,
        )
    if attempt.due_at and attempt.due_at > clock.now():
        return (
            Wait.BACKOFF,
            {
                "seconds": int((attempt.due_at - clock.now()).total_seconds()) + 1,
                "try": attempt.ordinal,
            },
            None,
        )
    request = request_of(attempt)
    snapshot = snapshot_of(attempt.cluster, [request])
    decision = snapshot.judge(request)
    # One that was claimed meanwhile would wait for itself.
    if (
        decision.wait is None
        or Attempt.objects.filter(id=attempt.id, has_reservation=True).exists()
    ):
        return Wait.EVALUATING, {}, None
    facts = {
        **decision.facts,
        **_subject_name(job, decision.facts),
        **quota_limits.until(decision.facts),
        **snapshot.smallest_limit(request),
    }
    return decision.wait, facts, snapshot.smallest_change(request)


def _subject_name(job: Job, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the display name of the subject of a limit."""
    names = {
        "org": lambda: job.org.name,
        "team": lambda: job.team.name,
        "user": lambda: job.owner.display_name,
    }
    return {"whose": names[facts["scope"]]()} if "scope" in facts else {}


def change_text(change: AmountChange) -> str:
    """Return "Would start now with 2 GPUs instead of 4."."""
    return str(offer(change.kind, change.before, change.after)["text"])


def _offer(change: AmountChange | None) -> dict[str, Any] | None:
    return offer(change.kind, change.before, change.after) if change else None


def _competitors(job: Job, wait: Wait) -> dict[str, Any]:
    """Return the filter of competing jobs: under the same limit, or on the same cluster."""
    match wait:
        case Wait.QUOTA_TEAM:
            return {"job__team": job.team_id}
        case Wait.QUOTA_USER:
            return {"job__owner": job.owner_id}
        case Wait.QUOTA_ORG:
            return {}
    return {"cluster": job.cluster_id}


def _holders(job: Job, wait: Wait, facts: Mapping[str, Any], viewer: Actor) -> list[BlockerShape]:
    """Return the jobs that use most of what is missing; hidden jobs share one line."""
    resource = facts.get("resource")
    if wait == Wait.DEPENDENCY:
        return [{"number": n, "text": f"#{n}", "since": None} for n in facts["jobs"]]
    if not isinstance(resource, str):
        return []
    rows = Attempt.objects.filter(
        has_reservation=True,
        state__gt=State.QUEUED,
        state__lt=State.SUCCEEDED,
        **_competitors(job, wait),
    )
    held: Counter[Job] = Counter()
    started: dict[Job, datetime | None] = {}
    for attempt in rows.select_related("job__owner", "job__team").order_by("id")[:500]:
        if amount := _amount_in_the_way(job, attempt, resource):
            held[attempt.job] += amount
            started.setdefault(attempt.job, attempt.started_at)
    seen = [
        (holder, amount)
        for holder, amount in held.most_common()
        if viewer.may(Permission.JOBS_READ, holder.team_id)
    ][:HOLDERS]
    taken = facts["total"] - facts["free"] if "total" in facts else held.total()
    rest = max(taken - sum(amount for _, amount in seen), 0)
    others: list[BlockerShape] = (
        [
            {
                "number": None,
                "text": Message(
                    "Other jobs are using {amount}", amount=amount_text(resource, rest)
                ),
                "since": None,
            }
        ]
        if rest
        else []
    )
    return [line(holder, resource, n, started[holder]) for holder, n in seen] + others


def _amount_in_the_way(job: Job, attempt: Attempt, resource: str) -> int:
    """Return how much an attempt has of what the job needs; GPUs of another type do not count."""
    holder = attempt.resources
    types = [ResourceRequest.of_totals(one).gpu_type for one in (job.resources, holder)]
    if resource == "gpu" and all(types) and types[0] != types[1]:
        return 0
    return int(holder.get(resource, 0))
