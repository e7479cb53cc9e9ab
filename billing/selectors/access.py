"""Who may see whose usage: a whole organization, some teams, or nothing."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


def visible_teams(actor: Actor) -> frozenset[UUID] | None:
    """Return the teams whose usage the actor may see; None for the whole organization.

    Bills show all teams; whoever may read the jobs of a team sees what it used.
    """
    if actor.teams_where(Permission.BILLING_READ) is None:
        return None
    bills, jobs = (
        actor.teams_where(permission)
        for permission in (Permission.BILLING_READ, Permission.JOBS_READ)
    )
    return None if jobs is None else (bills or frozenset()) | jobs


def team_rows(actor: Actor) -> QuerySet[Team]:
    """Return these teams by name."""
    teams = visible_teams(actor)
    rows = Team.objects.order_by("name")
    return rows if teams is None else rows.filter(id__in=teams)
