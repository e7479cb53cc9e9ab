"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable

from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.approvals.kinds import COMMENTED, REQUESTED, kinds
from workspaces.approvals.selectors import notified_events, of_event
from workspaces.models import Team, User
from workspaces.recipients import (
    Notice,
    NoticeKind,
    active,
    operators,
    org_of,
    people_who_may,
    quoted,
)

_OF_APPROVALS = tuple(sorted({p for kind in kinds() for p in (kind.decides, kind.reads)}))
KINDS = (
    NoticeKind(
        "approval",
        50,
        Message("Request to decide"),
        Message("Somebody asks for GPUs or a higher limit, and you may decide."),
        permissions=_OF_APPROVALS,
        email=True,
        for_team=False,
    ),
    NoticeKind(
        "decision",
        60,
        Message("Decision on your request"),
        Message("A request of yours was approved or declined."),
        permissions=_OF_APPROVALS,
        email=True,
    ),
    NoticeKind(
        "quota_nearly_used",
        90,
        Message("Quota nearly used"),
        Message("Storage or GPU-hours have reached 90% of their limit."),
        permissions=(P.QUOTAS_READ,),
    ),
)


def _approval(event: Event) -> Iterable[Notice]:
    """A request goes to those who decide, a decision to who asked, a comment to the others."""
    found = of_event(event)
    if found is None:
        return
    kind, what, row = found
    asker, team, text = row.asker, kind.team_id(row), row.word
    is_asked = what == REQUESTED or (what == COMMENTED and event.actor == asker.email)
    if what == COMMENTED:
        text = event.data["after"].get("word") or event.data["after"].get("note", "")
    elif what == REQUESTED:
        if row.state != row.State.OPEN:
            return
        text = kind.reason(row)
    elif row.state not in (row.State.APPROVED, row.State.DECLINED) or row.decided_by == asker.email:
        return
    users = active([asker])
    if is_asked:
        users = operators() if kind.by_operators else people_who_may(kind.decides, row.org_id, team)
        users = [user for user in users if user.id != asker.id]
    yield Notice(
        "approval" if is_asked else "decision",
        row.org_id,
        users,
        kind.notice_title(what, row),
        kind.path(row),
        quoted(text),
        kind.decides if is_asked and not kind.by_operators else kind.reads,
        team,
    )


def _quota_nearly_used(event: Event) -> Iterable[Notice]:
    org = org_of(event)
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


MAPPERS = {
    **dict.fromkeys(notified_events(), _approval),
    "quota.nearly_used": _quota_nearly_used,
}
