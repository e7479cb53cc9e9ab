"""List the jobs that block a job in a scheduler's queue, as the viewer may see them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from jobs.models import Attempt, Job
from jobs.models.attempt import key_of
from jobs.scheduling.pending_summary import BlockerShape
from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers.spec.grammar import format_size
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

FIELDS = {
    "gpu": "resources.accelerators",
    "cpu": "resources.cpus",
    "memory": "resources.memory",
    "nodes": "num_nodes",
}
_UNITS = {"cpu": 1000}
SHOWN = 5


def reported_blockers(facts: Mapping[str, Any], viewer: Actor) -> list[BlockerShape]:
    """Return the jobs that the scheduler reports as blocking.

    Jobs that the viewer may not see, and jobs from outside Muster, share one line with a count.
    """
    kind, held, others = facts.get("resource"), facts.get("held") or [], facts.get("others") or {}
    if not held and not others:
        return []
    jobs = _jobs_of([str(one["key"]) for one in held], viewer)
    seen = [
        (one, jobs[one["key"]])
        for one in held
        if one["key"] in jobs and viewer.may(Permission.JOBS_READ, jobs[one["key"]].team_id)
    ][:SHOWN]
    rest = [one["amount"] for one in held if not any(one is shown for shown, _ in seen)]
    count, amount = len(rest) + int(others.get("jobs", 0)), sum(rest) + int(others.get("amount", 0))
    return [line(job, kind, one["amount"], _started(one)) for one, job in seen] + (
        [_hidden_line(kind, count, amount)] if count else []
    )


def reported_change(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the change that the scheduler reports, as `offer` does."""
    change = facts.get("change")
    return offer(change["resource"], change["from"], change["to"]) if change else None


def offer(kind: str, before: int, after: int) -> dict[str, Any]:
    """Return a change of one field of the spec, with values that the spec accepts.

    The arguments are in quota units: millicores and bytes.
    """
    return {
        "field": FIELDS[kind],
        "from": _in_spec(kind, before),
        "to": _in_spec(kind, after),
        "text": Message(
            "Would start now with {kind} instead of {kind2}.",
            kind=amount_text(kind, after),
            kind2=amount_text(kind, before),
        ),
    }


def _in_spec(kind: str, amount: int) -> int | float | str:
    if kind == "memory":
        return format_size(amount)
    return amount / _UNITS[kind] if kind in _UNITS else amount


def line(job: Job, kind: object, amount: int, since: datetime | None) -> BlockerShape:
    """Return one job that the viewer may see."""
    name, owner = f"#{job.number} {job.name}", job.owner.display_name
    held = amount_text(kind, amount)
    return {
        "number": job.number,
        "text": Message(
            "{name} by {owner} is running", context="text, jobs", name=name, owner=owner
        )
        if kind == "jobs"
        else Message(
            "{name} by {owner} is using {amount}",
            context="text, jobs",
            name=name,
            owner=owner,
            amount=held,
        ),
        "since": since,
    }


def _started(one: Mapping[str, Any]) -> datetime | None:
    return datetime.fromtimestamp(one["since"], UTC) if one.get("since") else None


def _hidden_line(kind: object, count: int, amount: int) -> BlockerShape:
    held = amount_text(kind, amount)
    text = (
        Message.plural(count, "{n} other job is running", "{n} other jobs are running", n=count)
        if kind == "jobs"
        else Message.plural(
            count,
            "{n} other job is using {amount}",
            "{n} other jobs are using {amount}",
            n=count,
            amount=held,
        )
    )
    return {"number": None, "text": text, "since": None}


def _jobs_of(keys: list[str], viewer: Actor) -> dict[str, Job]:
    """Return the jobs of the viewer's organization by key."""
    ids = [UUID(key[7:]) for key in keys if _is_key(key)]
    rows = Attempt.objects.filter(id__in=ids, org_id=viewer.org_id).select_related("job__owner")
    return {row.key: row.job for row in rows}


def _is_key(key: str) -> bool:
    """Return whether Muster could have issued this name; a cluster also runs other jobs."""
    try:
        return key == key_of(UUID(key[7:]))
    except ValueError:
        return False
