"""Which events notify whom: one function per family of events.

An event that is not listed notifies nobody. A function gets an event and returns notices; it reads
what the event is about, so that a deleted object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from clusters.models import Node, PoolRequest
from jobs.models import Job
from jobs.utilization.idle_rules import RULE
from jobs.workload_kinds import kind_of, page_of
from notifications.models import Channel
from notifications.recipients import active, operators, people_who_may
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.states import Reason
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization, QuotaRequest, Team, User
from workspaces.quotas.limits import unit_of
from workspaces.quotas.set_limits import shown

SHORT = timedelta(minutes=1)  # a job that succeeds sooner is not reported


@dataclass(frozen=True)
class Notice:
    """What to tell whom. `permission` is needed to see it, in `team_id` if that is set.

    `org_id` None: operators only. Channels of `team_id` get it too.
    """

    kind: str
    org_id: UUID | None
    users: Sequence[User]
    title: Message
    path: str
    body: Message = Message("")  # noqa: RUF009  # immutable
    permission: str = ""
    team_id: UUID | None = None


Mapper = Callable[[Event], Iterable[Notice]]


def notices_of(event: Event) -> list[Notice]:
    """Return the notices of an event. Run in a platform scope."""
    mapper = MAPPERS.get(event.kind)
    return list(mapper(event)) if mapper else []


def _org(event: Event) -> Organization | None:
    return Organization.objects.filter(id=event.org_id).first() if event.org_id else None


# Jobs


def _job(event: Event) -> Job | None:
    rows = Job.objects.select_related("owner", "org", "team")
    return rows.filter(id=event.subject_id).first()


def _of_job(job: Job, kind: str, title: Message, body: Message, tab: str = "") -> Notice:
    return Notice(
        kind,
        job.org_id,
        active([job.owner]),
        title,
        f"{page_of(job)}{tab}",
        body,
        P.JOBS_READ,
        job.team_id,
    )


def _named(job: Job) -> dict[str, object]:
    return {"number": job.number, "name": job.name}


def _of_end(job: Job, event: Event, kind: str, body: str) -> Iterable[Notice]:
    """Report an end of the job, if its kind has a title for it."""
    if title := kind_of(job).end_notices.get(event.kind):
        yield _of_job(job, kind, title.format(**_named(job)), Message.joined("", [body]))


def _job_failed(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        why = job.evidence or _reason(str(event.data.get("reason", "")))
        yield from _of_end(job, event, "job_failed", why)


def _reason(reason: str) -> str:
    try:
        return Reason(reason).headline
    except ValueError:
        return ""


def _job_canceled(event: Event) -> Iterable[Notice]:
    job = _job(event)
    if job and job.cancel_asked_by not in (job.owner.email, RULE.email):
        yield from _of_end(job, event, "job_failed", job.evidence)


def _job_succeeded(event: Event) -> Iterable[Notice]:
    job = _job(event)
    if not job or not job.started_at or not job.finished_at:
        return
    if job.finished_at - job.started_at >= SHORT:
        yield from _of_end(job, event, "job_succeeded", "")


def _job_pending(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = Message("#{number} {name} is still pending", **_named(job))
        body = Message(
            "It has been pending for more than an hour. Its page says what it waits for."
        )
        yield _of_job(job, "job_pending", title, body)


def _job_idle(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = Message("#{number} {name} has idle GPUs", **_named(job))
        yield _of_job(job, "idle_gpus", title, _idle_text(event))


def _idle_text(event: Event) -> Message:
    data = event.data
    if event.kind == "job.idle_notified":
        return Message(
            "{gpus} GPUs have been below 10% utilization, {hours} GPU-hours so far. {email} asks "
            "you to check it, and to cancel it if it no longer needs them.",
            gpus=data.get("gpus", "?"),
            hours=data.get("hours", "?"),
            email=event.actor,
        )
    return Message(
        "{gpus} GPUs have been below 10% utilization for more than an hour.",
        gpus=data.get("gpus", "?"),
    )


def _idle_warned(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        facts = {"minutes": event.data.get("minutes", "?"), "pool": event.data.get("pool", "")}
        stops = event.data.get("action") == "stop"
        title = (
            Message("#{number} {name} will be stopped: its GPUs are idle", **_named(job))
            if stops
            else Message("#{number} {name} has idle GPUs", **_named(job))
        )
        keep = Message("To keep it: muster job keep {number} 2h", number=job.number)
        when = (
            Message("The rule of pool {pool} stops it in {minutes} minutes.", **facts)
            if stops
            else Message(
                "The rule of pool {pool} lowers its priority in {minutes} minutes.", **facts
            )
            if event.data.get("action") == "lower"
            else Message("The rule of pool {pool} warns only.", **facts)
        )
        yield _of_job(job, "idle_gpus", title, Message.joined(" ", (_measured(event), when, keep)))


def _measured(event: Event) -> Message:
    return Message(
        "{metric} stayed below {threshold} for {window} minutes.",
        metric=Message(str(event.data.get("metric_title", "GPU utilization"))),
        threshold=event.data.get("threshold", "?"),
        window=event.data.get("window", "?"),
    )


def _idle_acted(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = (
            Message("#{number} {name} was stopped: its GPUs were idle", **_named(job))
            if event.kind == "job.idle_stopped"
            else Message("#{number} {name} has low priority now: its GPUs were idle", **_named(job))
        )
        yield _of_job(job, "idle_gpus", title, _measured(event))


# Requests


def _quota_requested(event: Event) -> Iterable[Notice]:
    row = QuotaRequest.objects.select_related("org", "asker").filter(id=event.subject_id).first()
    if row is None or row.state != QuotaRequest.State.OPEN:
        return
    amount = f"{shown(row.resource, row.amount):g} {unit_of(row.resource)}".strip()
    yield Notice(
        "approval",
        row.org_id,
        [u for u in people_who_may(P.QUOTAS_WRITE, row.org_id) if u.id != row.asker_id],
        Message(
            "{email} asks for {amount} ({resource})",
            email=row.asker.email,
            amount=amount,
            resource=row.resource,
        ),
        f"/{row.org.slug}/quotas",
        _quoted(row.why),
        P.QUOTAS_WRITE,
    )


def _quota_decided(event: Event) -> Iterable[Notice]:
    row = QuotaRequest.objects.select_related("org", "asker").filter(id=event.subject_id).first()
    if row is None or row.state not in _DECIDED or row.decided_by == row.asker.email:
        return
    facts = {"resource": row.resource, "subject": row.subject or row.org.name}
    title = (
        Message("Your request for {resource} of {subject} was approved", **facts)
        if row.state == QuotaRequest.State.APPROVED
        else Message("Your request for {resource} of {subject} was declined", **facts)
    )
    yield Notice(
        "decision",
        row.org_id,
        active([row.asker]),
        title,
        f"/{row.org.slug}/quotas",
        _quoted(row.word),
        P.QUOTAS_READ,
    )


_DECIDED = (QuotaRequest.State.APPROVED, QuotaRequest.State.DECLINED)


def _quoted(text: str) -> Message:
    return Message("“{text}”", text=text) if text else Message("")


def _pool_request(event: Event) -> PoolRequest | None:
    rows = PoolRequest.objects.select_related("org", "asker", "team", "pool")
    return rows.filter(id=event.subject_id).first()


def _asked(row: PoolRequest) -> dict[str, object]:
    return {"gpus": f"{row.gpus:,}", "type": gpu_text(row.gpu_type), "team": row.team.name}


def _request_path(row: PoolRequest) -> str:
    return f"/{row.org.slug}/pool-requests/{row.id}"


def _pool_requested(event: Event) -> Iterable[Notice]:
    row = _pool_request(event)
    if row and row.state == PoolRequest.State.OPEN:
        yield Notice(
            "approval",
            row.org_id,
            [user for user in operators() if user.id != row.asker_id],
            Message("{team} asks for {gpus} × {type}", **_asked(row)),
            _request_path(row),
            _quoted(row.purpose),
            P.NODES_READ,
            row.team_id,
        )


def _pool_decided(event: Event) -> Iterable[Notice]:
    row = _pool_request(event)
    if row is None or row.decided_by == row.asker.email:
        return
    title = (
        Message("Approved: {gpus} × {type} for {team}", **_asked(row))
        if event.kind == "pool.request_approved"
        else Message("Declined: {gpus} × {type} for {team}", **_asked(row))
    )
    yield Notice(
        "decision",
        row.org_id,
        active([row.asker]),
        title,
        _request_path(row),
        _quoted(row.word),
        P.NODES_READ,
        row.team_id,
    )


def _pool_ending(event: Event) -> Iterable[Notice]:
    row = _pool_request(event)
    if row is None:
        return
    facts = _asked(row) | {"pool": row.pool.name if row.pool else ""}
    if event.kind == "pool.ends_soon":
        title = Message("{gpus} × {type} for {team} end soon", **facts)
        body = Message(
            "They end on {date} UTC. Renew them, or let them end: running jobs continue, new jobs "
            "can't use the pool {pool}.",
            date=f"{row.ends_at:%Y-%m-%d %H:%M}",
            **facts,
        )
    else:
        title = Message("{gpus} × {type} for {team} have ended", **facts)
        body = Message("Running jobs continue; new jobs can't use the pool {pool}.", **facts)
    leads = people_who_may(P.JOBS_ADMIN, row.org_id, row.team_id)
    users = {user.id: user for user in (*active([row.asker]), *leads)}
    yield Notice(
        "pool_ending",
        row.org_id,
        list(users.values()),
        title,
        _request_path(row),
        body,
        P.NODES_READ,
        row.team_id,
    )


# Money and limits


def _budget(event: Event) -> Iterable[Notice]:
    """Data of `budget.threshold_reached` has percent, and the slug of the team if it has one."""
    org = _org(event)
    if org is None:
        return
    team = _team(org, event.data)
    percent = event.data.get("percent", "?")
    name = team.name if team else org.name
    title = Message("{name} has used {percent}% of its budget", name=name, percent=percent)
    path = f"/{org.slug}/usage/cost"
    payers = people_who_may(P.BILLING_READ, org.id)
    yield Notice("budget", org.id, payers, title, path, permission=P.BILLING_READ)
    if team:
        known = {user.id for user in payers}
        leads = [
            user for user in people_who_may(P.JOBS_ADMIN, org.id, team.id) if user.id not in known
        ]
        yield Notice(
            "budget",
            org.id,
            leads,
            title,
            path,
            permission=P.JOBS_ADMIN,
            team_id=team.id,
        )


def _team(org: Organization, data: Mapping[str, object]) -> Team | None:
    slug = data.get("team")
    return Team.objects.filter(org_id=org.id, slug=str(slug)).first() if slug else None


def _quota_nearly_used(event: Event) -> Iterable[Notice]:
    org = _org(event)
    scope, subject = event.data.get("scope"), event.data.get("subject")
    if org is None:
        return
    team = Team.objects.filter(id=subject).first() if scope == "team" else None
    if scope == "user":
        users, name = active(User.objects.filter(id=subject)), Message("You have")
    elif team:
        users, name = people_who_may(P.JOBS_ADMIN, org.id, team.id), Message("{n} has", n=team.name)
    else:
        users, name = people_who_may(P.QUOTAS_WRITE, org.id), Message("{n} has", n=org.name)
    yield Notice(
        "quota_nearly_used",
        org.id,
        users,
        Message(
            "{who} used {percent}% of the limit of {resource}",
            who=name,
            percent=event.data.get("percent", "?"),
            resource=event.data.get("resource", "?"),
        ),
        f"/{org.slug}/quotas",
        Message(""),
        P.QUOTAS_READ,
        team.id if team else None,
    )


# Hardware


def _node(event: Event) -> Node | None:
    return Node.objects.filter(id=event.subject_id).first() if event.subject_id else None


def _xid(event: Event) -> Iterable[Notice]:
    node = _node(event)
    if node and event.data.get("action") == "drain":
        facts = {name: event.data.get(name, "?") for name in ("code", "gpu", "meaning")}
        title = Message("GPU {gpu} on {node} reported XID {code}", node=node.name, **facts)
        yield _of_node(node, title, Message("{meaning}", **facts))


def _node_unhealthy(event: Event) -> Iterable[Notice]:
    node = _node(event)
    after = event.data.get("after")
    state = after.get("state") if isinstance(after, dict) else event.data.get("state")
    if node and state != "healthy":
        check = str(event.data.get("check") or event.data.get("why") or "")
        gpu = event.data.get("gpu")
        where = f"GPU {gpu}" if gpu not in (None, "") else ""
        title = Message("{node} is unhealthy: {state}", node=node.name, state=state or "?")
        yield _of_node(node, title, Message.joined(" · ", (check, where)))


def _of_node(node: Node, title: Message, body: Message) -> Notice:
    path = f"/platform/nodes/{node.name}"
    return Notice("gpu_unhealthy", None, operators(), title, path, body)


def _cluster_silent(event: Event) -> Iterable[Notice]:
    name = str(event.data.get("name", ""))
    title = Message("Cluster {name} does not respond", name=name)
    body = Message.joined("", [str(event.data.get("said", ""))])
    yield Notice("gpu_unhealthy", None, operators(), title, f"/platform/clusters/{name}", body)


def _health_stopped(event: Event) -> Iterable[Notice]:
    name = str(event.data.get("name", ""))
    title = Message("Health rules of cluster {name} have stopped acting", name=name)
    body = Message("Too many nodes failed at once. Check whether it is a false alarm.")
    yield Notice("gpu_unhealthy", None, operators(), title, f"/platform/clusters/{name}", body)


# Channels


def _channel_disabled(event: Event) -> Iterable[Notice]:
    rows = Channel.objects.select_related("org", "user", "team")
    channel = rows.filter(id=event.subject_id, disabled_at__isnull=False).first()
    if channel is None:
        return
    users = (
        active([channel.user])
        if channel.user
        else people_who_may(P.JOBS_ADMIN, channel.org_id, channel.team_id)
    )
    yield Notice(
        "channel_disabled",
        channel.org_id,
        users,
        Message("The channel {name} is disabled", name=channel.name),
        f"/{channel.org.slug}/notification-channels/{channel.id}",
        Message.joined("", [channel.trouble]),
        P.JOBS_ADMIN if channel.team_id else "",
        channel.team_id,
    )


MAPPERS: Mapping[str, Mapper] = {
    "job.failed": _job_failed,
    "job.canceled": _job_canceled,
    "job.succeeded": _job_succeeded,
    "job.pending_long": _job_pending,
    "job.gpus_idle": _job_idle,
    "job.idle_notified": _job_idle,
    "job.idle_warned": _idle_warned,
    "job.idle_stopped": _idle_acted,
    "job.idle_lowered": _idle_acted,
    "quota.requested": _quota_requested,
    "quota.request_approved": _quota_decided,
    "quota.request_declined": _quota_decided,
    "quota.nearly_used": _quota_nearly_used,
    "pool.requested": _pool_requested,
    "pool.request_approved": _pool_decided,
    "pool.request_declined": _pool_decided,
    "pool.ends_soon": _pool_ending,
    "pool.expired": _pool_ending,
    "budget.threshold_reached": _budget,
    "node.xid": _xid,
    "node.health_changed": _node_unhealthy,
    "node.quarantined": _node_unhealthy,
    "cluster.silent": _cluster_silent,
    "cluster.health_stopped": _health_stopped,
    "notification_channel.disabled": _channel_disabled,
}
