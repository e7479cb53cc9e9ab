"""Read names, versions and authors of secrets, never values."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db.models import Q

from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.credentials.secrets import OWN, SHARED
from workspaces.models import Secret, SecretVersion, Team


def secrets_for(actor: Actor) -> list[dict[str, Any]]:
    """Return the secrets of the organization and of the teams in which the actor may see them.

    Those of the organization are visible to everybody who may see the secrets of a team.
    """
    teams = actor.teams_where(Permission.SECRETS_READ)
    if teams is not None and not teams:
        return []
    seen = Q() if teams is None else Q(team=None) | Q(team__in=teams)
    rows = list(Secret.objects.filter(seen).select_related("team").order_by("team__slug", "name"))
    versions = defaultdict(list)
    for row in SecretVersion.objects.filter(secret__in=rows).order_by("-number").defer("sealed"):
        versions[row.secret_id].append(
            {"number": row.number, "made_by": row.made_by, "created_at": row.created_at}
        )
    return [secret_row(row, row.team, versions[row.id]) for row in rows]


def references_for(actor: Actor, team: Team) -> list[str]:
    """Return the references that a job of the team may use: its own secrets, then the shared.

    Empty unless the actor may see the names of the team's secrets.
    """
    if not actor.may(Permission.SECRETS_READ, team.id):
        return []
    rows = Secret.objects.filter(Q(team=team) | Q(team=None)).order_by("name")
    own = [f"{OWN}/{row.name}" for row in rows if row.team_id]
    return own + [f"{SHARED}/{row.name}" for row in rows if row.team_id is None]


def secret_row(secret: Secret, team: Team | None, versions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a secret as shown by the API and the pages."""
    where = team.slug if team else "org"
    return {
        "where": where,
        "team": team.slug if team else None,
        "name": secret.name,
        "reference": f"{where}/{secret.name}",
        "version": secret.newest,
        "versions": versions,
        "created_at": secret.created_at,
        "changed_at": versions[0]["created_at"] if versions else secret.created_at,
        "last_used_at": secret.last_used_at,
    }


def writable(actor: Actor) -> list[str]:
    """Return where the actor may set secrets: team slugs, and `org` for the organization."""
    teams = actor.teams_where(Permission.SECRETS_WRITE)
    rows = (
        Team.objects.order_by("slug")
        if teams is None
        else Team.objects.filter(id__in=teams).order_by("slug")
    )
    return [
        *rows.values_list("slug", flat=True),
        *(["org"] if actor.may(Permission.SECRETS_WRITE) else []),
    ]
