"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization, Team
from workspaces.recipients import Notice, NoticeKind, org_of, people_who_may

KINDS = (
    NoticeKind(
        "budget",
        80,
        Message("Budget", context="kind of notification"),
        Message("A budget has reached one of its thresholds."),
        permissions=(
            P.BILLING_READ,
            P.JOBS_ADMIN,
        ),
        email=True,
        mark="unknown",
    ),
)


def _budget(event: Event) -> Iterable[Notice]:
    """Data of `budget.threshold_reached` has percent, and the slug of the team if it has one."""
    org = org_of(event)
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


MAPPERS = {
    "budget.threshold_reached": _budget,
}
