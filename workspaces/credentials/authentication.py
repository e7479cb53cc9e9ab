"""Authenticate a token, and read its organization and roles, in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection

from portal.core import clock
from portal.core.joined_select import JoinedSelect
from workspaces.access.actors import Actor, actor_of
from workspaces.credentials.token_format import (
    check_network,
    digest_of,
    facts_of,
    is_well_formed,
    touch,
)
from workspaces.models import AccessToken, Membership, Organization, Team, TeamMembership, User
from workspaces.tenancy.scope import platform_scope

# In the order of the model's fields, as `from_db` needs them
_TOKEN = (
    "id",
    "org_id",
    "team_id",
    "attempt_id",
    "name",
    "scopes",
    "networks",
    "cluster",
    "vouched_by_id",
    "last_used_at",
)
_USER = ("id", "email", "name", "is_operator", "is_service", "has_second_factor")
_ORG = ("id", "slug", "name", "created_at", "last_job_number", "requires_second_factor")
_TEAM = ("id", "org_id", "slug", "name", "created_at", "job_rules")
_SQL = """
SELECT {{columns}} FROM {{token}} JOIN {{person}} ON person.id = token.user_id AND person.is_active
LEFT JOIN {{org}} ON org.slug = %s
LEFT JOIN {{member}} ON member.org_id = org.id AND member.user_id = person.id AND member.suspended_at IS NULL
LEFT JOIN {{seat}} ON seat.org_id = org.id AND seat.user_id = person.id
LEFT JOIN {{team}} ON team.id = seat.team_id
WHERE token.digest IN ({digests}) AND token.revoked_at IS NULL
  AND (token.expires_at IS NULL OR token.expires_at > %s)"""


@dataclass(frozen=True)
class TokenOwner:
    """The owner of a token.

    `org` is None if the URL names no existing organization. `teams`: the owner's teams by slug.
    """

    actor: Actor
    org: Organization | None
    role: str
    roles: Mapping[Any, str]
    teams: Mapping[str, Team]

    def enter(self) -> Actor:
        """Return the actor inside that organization. Raises NotFound for non-members."""
        assert self.org is not None
        return self.actor.within(self.org, self.role, self.roles)


def by_token(raw: str, slug: str, address: str = "") -> TokenOwner | None:
    """Return the entry of a token, or None if it is invalid or its owner is inactive.

    Invalid tokens are malformed, unknown, expired or revoked. Raises NotPermitted if the token may
    not be used from that address.
    """
    if not is_well_formed(raw):
        return None
    digests = [digest_of(raw), *(digest_of(raw, key) for key in settings.SECRET_KEY_FALLBACKS)]
    now = connection.ops.adapt_datetimefield_value(clock.now())
    with platform_scope("find the organization of a token"):
        rows = _query(len(digests)).rows([slug, *digests, now])
    return _entry(rows, address) if rows else None


def _entry(rows: Sequence[list[Any]], address: str) -> TokenOwner:
    first, ends = (
        rows[0],
        (len(_TOKEN), len(_TOKEN) + len(_USER), len(_TOKEN) + len(_USER) + len(_ORG)),
    )
    token = AccessToken.from_db(connection.alias, _TOKEN, first[: ends[0]])
    user = User.from_db(connection.alias, _USER, first[ends[0] : ends[1]])
    with platform_scope("find the organization of a token"):
        check_network(token, user.email, address)
        touch(token, user.email, address)
    has_org = first[ends[1]] is not None
    org = (
        Organization.from_db(connection.alias, _ORG, first[ends[1] : ends[2]]) if has_org else None
    )
    seats = [row[ends[2] :] for row in rows if row[-1]]
    teams = [Team.from_db(connection.alias, _TEAM, seat[1:-1]) for seat in seats]
    return TokenOwner(
        actor_of(user, facts_of(token)),
        org,
        first[ends[2]] or "",
        {seat[1]: seat[-1] for seat in seats},
        {team.slug: team for team in teams},
    )


@cache
def _query(digests: int) -> JoinedSelect:
    return JoinedSelect(
        _SQL.format(digests=", ".join(["%s"] * digests)),
        {
            "token": AccessToken,
            "person": User,
            "org": Organization,
            "member": Membership,
            "seat": TeamMembership,
            "team": Team,
        },
        [
            ("token", _TOKEN),
            ("person", _USER),
            ("org", _ORG),
            ("member", ("role",)),
            ("team", _TEAM),
            ("seat", ("role",)),
        ],
    )
