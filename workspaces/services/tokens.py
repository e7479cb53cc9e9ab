"""Making and ending access tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from portal.core import clock
from portal.core.errors import InvalidInput, NotFound, NotPermitted
from portal.core.events import Fact, record
from workspaces.actors import ALL_SCOPES, Actor, authorize
from workspaces.models import AccessToken, Organization, Team
from workspaces.permissions import Permission
from workspaces.tokens import digest_of, new_secret, secret_of_attempt

DEFAULT_DAYS, MAX_DAYS = 90, 3660
JOB_SCOPES = [Permission.JOBS_READ, Permission.JOBS_SUBMIT, Permission.JOBS_WRITE_METRICS, Permission.NODES_READ,
              Permission.QUOTAS_READ, Permission.TEAMS_READ]


@dataclass(frozen=True)
class NewToken:
    """The row, and the text that is shown once."""

    row: AccessToken
    secret: str


@transaction.atomic
def create_token(*, actor: Actor, org: Organization, name: str, scopes: Sequence[str], team: Team | None = None,
                 days: int | None = DEFAULT_DAYS) -> NewToken:
    """A token of the actor's own, never wider than the actor. `days` None: it does not expire. Raises InvalidInput,
    NotPermitted."""
    authorize(actor, Permission.TOKENS_WRITE, team)
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidInput.at("name", "must be 1 to 100 characters long, without control characters")
    if days is not None and not 0 < days <= MAX_DAYS:
        raise InvalidInput.at("days", f"must be between 1 and {MAX_DAYS}")
    scopes = _checked(actor, scopes)
    if actor.token and actor.token.team_id and (team is None or team.id != actor.token.team_id):
        raise NotPermitted("A token bound to a team can only make tokens bound to that team.")
    secret = new_secret()
    row = AccessToken.objects.create(
        org=org, user_id=actor.user_id, team=team, name=name, digest=digest_of(secret), hint=secret[:8],
        scopes=scopes, expires_at=None if days is None else clock.now() + timedelta(days=days))
    record(Fact("token.created", org.id, "token", row.id, actor.email, {"name": name, "scopes": scopes}))
    return NewToken(row, secret)


@transaction.atomic
def revoke_token(*, actor: Actor, token_id: UUID) -> None:
    """End a token: one's own, or any in the organization for those who may change members. Raises NotFound."""
    row = AccessToken.objects.filter(id=token_id, revoked_at=None).first()
    own = row is not None and row.user_id == actor.user_id
    if row is None or not (own or actor.may(Permission.MEMBERS_WRITE)):
        raise NotFound("There is no such token, or it is not yours.")
    authorize(actor, Permission.TOKENS_WRITE, row.team_id if actor.token else None)
    AccessToken.objects.filter(id=row.id).update(revoked_at=clock.now())
    record(Fact("token.revoked", row.org_id, "token", row.id, actor.email, {"name": row.name}))


def revoke_tokens_of(user_id: UUID, team_id: UUID | None = None) -> None:
    """End a person's tokens in the organization one is in (only those bound to `team_id`, if given)."""
    rows = AccessToken.objects.filter(user_id=user_id, revoked_at=None)
    (rows.filter(team_id=team_id) if team_id else rows).update(revoked_at=clock.now())


@dataclass(frozen=True)
class Bearer:
    """Who carries an attempt's token."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    attempt_id: UUID
    name: str


def issue_attempt_tokens(bearers: Sequence[Bearer]) -> list[str]:
    """The tokens that jobs carry: each can do only what its team may, and ends with the attempt. An attempt has one: asked for
    again (its worker died, and what it started may be running) the same one comes back."""
    secrets, scopes = [secret_of_attempt(bearer.attempt_id) for bearer in bearers], [str(scope) for scope in JOB_SCOPES]
    AccessToken.objects.bulk_create([AccessToken(
        org_id=bearer.org_id, team_id=bearer.team_id, user_id=bearer.user_id, attempt_id=bearer.attempt_id, name=bearer.name[:100],
        digest=digest_of(secret), hint=secret[:8], scopes=scopes) for bearer, secret in zip(bearers, secrets, strict=True)],
        ignore_conflicts=True)
    return secrets


def revoke_attempt_tokens(attempt_ids: Iterable[UUID]) -> None:
    """Delete the tokens of attempts that have ended."""
    AccessToken.objects.filter(attempt_id__in=list(attempt_ids)).delete()


def _checked(actor: Actor, scopes: Sequence[str]) -> list[str]:
    known = {ALL_SCOPES, *map(str, Permission)}
    wrong = [s for s in scopes if s not in known]
    if wrong or not scopes:
        raise InvalidInput.at("scopes", f"{', '.join(map(repr, wrong)) or 'empty'}: choose from {', '.join(sorted(known))}")
    if actor.token and ALL_SCOPES not in actor.token.scopes and not set(scopes) <= actor.token.scopes:
        raise NotPermitted("A token can only make tokens with scopes that it has itself.")
    return sorted(set(scopes))
