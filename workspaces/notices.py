"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.approvals.kinds import kinds
from workspaces.approvals.notices import notices_of
from workspaces.approvals.selectors import notified_events
from workspaces.models import Team, User
from workspaces.recipients import Notice, NoticeKind, active, org_of, people_who_may

_NEEDED = tuple(sorted({needed for kind in kinds() for needed in (kind.decides, kind.reads)}))
KINDS = (
    NoticeKind(
        "approval",
        50,
        Message("Request to decide"),
        Message("Somebody asks for GPUs or a higher limit, and you may decide."),
        permissions=_NEEDED,
        email=True,
        for_team=False,
    ),
    NoticeKind(
        "decision",
        60,
        Message("Decision on your request"),
        Message("A request of yours was approved or declined."),
        permissions=_NEEDED,
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


def _quota_nearly_used(event: Event) -> Iterable[Notice]:
    org = org_of(event)
    scope, subject = event.data.get("scope"), event.data.get("subject")
    if org is None:
        return
    team = Team.objects.filter(id=subject).first() if scope == "team" else None
    if scope == "user":
        users, name = active(User.objects.filter(id=subject)), ""
    elif team:
        users, name = people_who_may(P.JOBS_ADMIN, org.id, team.id), team.name
    else:
        users, name = people_who_may(P.QUOTAS_WRITE, org.id), org.name
    facts: dict[str, Any] = {key: str(event.data.get(key, "?")) for key in ("percent", "resource")}
    title = (
        Message("{who} has used {percent}% of the limit of {resource}", who=name, **facts)
        if name
        else Message("You have used {percent}% of the limit of {resource}", **facts)
    )
    yield Notice(
        "quota_nearly_used",
        org.id,
        users,
        title,
        f"/{org.slug}/quotas",
        Message(""),
        P.QUOTAS_READ,
        team.id if team else None,
    )


MAPPERS = {
    **dict.fromkeys(notified_events(), notices_of),
    "quota.nearly_used": _quota_nearly_used,
}
