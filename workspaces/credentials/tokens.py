"""Create, rotate and revoke access tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, record, record_all
from portal.core.ids import uuid7
from portal.core.messages import Message
from workspaces.access.actors import ALL_SCOPES, Actor, authorize
from workspaces.access.permissions import Permission, all_permissions
from workspaces.credentials.agent_clusters import has_cluster
from workspaces.credentials.networks import are_within, parse_networks
from workspaces.credentials.token_format import (
    digest_of,
    live_tokens,
    new_secret,
    secret_of_attempt,
)
from workspaces.credentials.token_presets import with_presets
from workspaces.models import AccessToken, Identity, Organization, Provider, Team
from workspaces.tenancy.scope import platform_scope

DEFAULT_DAYS, MAX_DAYS = 90, 3660
DEFAULT_OVERLAP, MAX_OVERLAP = 24, 168  # hours that a rotated token keeps working
JOB_SCOPES = [
    Permission.DATASETS_READ,
    Permission.DATASETS_WRITE,
    Permission.EXPERIMENTS_READ,
    Permission.EXPERIMENTS_WRITE,
    Permission.JOBS_READ,
    Permission.JOBS_SUBMIT,
    Permission.JOBS_WRITE_METRICS,
    Permission.MODELS_READ,
    Permission.MODELS_WRITE,
    Permission.NODES_READ,
    Permission.QUOTAS_READ,
    Permission.TEAMS_READ,
]


@dataclass(frozen=True)
class NewToken:
    """The row, and the token text, which is shown once."""

    row: AccessToken
    secret: str


@dataclass(frozen=True)
class TokenParams:
    """Parameters of a new token.

    `days` None: it does not expire. `networks`: CIDRs; if empty it works from anywhere.
    `cluster`: of a node agent, the name of the cluster whose nodes it may report.
    """

    name: str
    scopes: Sequence[str]
    team: Team | None = None
    days: int | None = DEFAULT_DAYS
    networks: Sequence[str] = ()
    cluster: str = ""


@transaction.atomic
def create_token(
    *,
    actor: Actor,
    org: Organization,
    name: str,
    scopes: Sequence[str],
    team: Team | None = None,
    days: int | None = DEFAULT_DAYS,
    networks: Sequence[str] = (),
    cluster: str = "",
) -> NewToken:
    """Create a token for the actor, never wider than the actor.

    `days` None: it does not expire. Raises InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.TOKENS_WRITE, team)
    if actor.is_service:
        raise NotPermitted(
            Message(
                "Service accounts cannot create tokens, only rotate their own. Their managers "
                "create tokens for them."
            )
        )
    assert actor.user_id is not None
    params = TokenParams(name, scopes, team, days, networks, cluster)
    return issue_token(actor, org, actor.user_id, params)


def issue_token(actor: Actor, org: Organization, user_id: UUID, params: TokenParams) -> NewToken:
    """Create a token for a user, never wider than the actor's own credential.

    The caller has checked permissions. Raises InvalidInput, NotPermitted.
    """
    actor.check_acts_for_oneself()
    name, days, team = params.name.strip(), params.days, params.team
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidInput.at(
            "name", Message("must be 1 to {n} characters long, without control characters", n=100)
        )
    if days is not None and not 0 < days <= MAX_DAYS:
        raise InvalidInput.at(
            "days", Message("must be between {low} and {high}", low=1, high=MAX_DAYS)
        )
    scopes, networks = _checked_scopes(actor, params.scopes), parse_networks(params.networks)
    _check_narrower(actor, team.id if team else None, networks)
    _check_cluster(actor, params.cluster, scopes)
    if actor.only_org and not actor.vouched_by:
        raise NotPermitted(
            Message(
                "Sign in again before you create a token: the session does not say which provider "
                "signed you in."
            )
        )
    if actor.vouched_by and actor.user_id:
        _check_still_vouched(actor.vouched_by, actor.user_id)
    secret, vouched_by = new_secret(), actor.vouched_by if user_id == actor.user_id else None
    row = AccessToken.objects.create(
        vouched_by_id=vouched_by,
        org=org,
        user_id=user_id,
        team=team,
        name=name,
        digest=digest_of(secret),
        hint=secret[:8],
        made_by=actor.email,
        scopes=scopes,
        networks=networks,
        cluster=params.cluster,
        expires_at=None if days is None else clock.now() + timedelta(days=days),
    )
    until = row.expires_at.isoformat(timespec="seconds") if row.expires_at else None
    record(
        EventRecord(
            "token.created",
            org.id,
            "token",
            row.id,
            actor.email,
            {
                "name": name,
                "after": {
                    "scopes": scopes,
                    "team": team.slug if team else None,
                    "networks": networks,
                    **({"cluster": params.cluster} if params.cluster else {}),
                    "expires_at": until,
                },
            },
        )
    )
    return NewToken(row, secret)


@transaction.atomic
def revoke_token(*, actor: Actor, token_id: UUID) -> None:
    """Revoke the actor's own token, or any token if the actor may change members.

    Raises NotFound.
    """
    row = AccessToken.objects.filter(id=token_id, revoked_at=None).first()
    own = row is not None and row.user_id == actor.user_id
    if row is None or not (own or actor.may(Permission.MEMBERS_WRITE)):
        raise NotFound(Message("There is no such token, or it is not yours."))
    authorize(actor, Permission.TOKENS_WRITE, row.team_id if actor.token else None)
    AccessToken.objects.filter(id=row.id).update(revoked_at=clock.now())
    record(
        EventRecord(
            "token.revoked",
            row.org_id,
            "token",
            row.id,
            actor.email,
            {"name": row.name, "before": {"scopes": row.scopes}},
        )
    )


@transaction.atomic
def rotate_token(*, actor: Actor, token_id: UUID, overlap_hours: int = DEFAULT_OVERLAP) -> NewToken:
    """Replace a token by one with the same scopes, networks and lifetime.

    The old one works during the overlap, or until it expires if that is sooner. Applies to
    the actor's tokens, and those of service accounts whose permissions the actor has. Raises NotFound, InvalidInput,
    Conflict.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP:
        raise InvalidInput.at(
            "overlap_hours", Message("must be between {low} and {high}", low=0, high=MAX_OVERLAP)
        )
    old = live_tokens().filter(id=token_id, attempt_id=None).select_related("user", "team").first()
    if old is None or not _may_rotate(actor, old):
        raise NotFound(Message("There is no such active token, or it is not yours."))
    authorize(actor, Permission.TOKENS_WRITE, old.team_id if actor.token else None)
    if actor.token is None or actor.token.id != old.id:
        _check_vouched(actor, old)
        _checked_scopes(actor, old.scopes)
        _check_narrower(actor, old.team_id, old.networks)
    made = _successor(actor, old)
    until = clock.now() + timedelta(hours=overlap_hours)
    ends = (
        {"expires_at": min(until, old.expires_at or until)}
        if overlap_hours
        else {"revoked_at": until}
    )
    if not AccessToken.objects.filter(id=old.id, successor_id=None, revoked_at=None).update(
        successor_id=made.row.id, **ends
    ):
        raise Conflict(Message("This token has been rotated already."))
    record(
        EventRecord(
            "token.rotated",
            old.org_id,
            "token",
            old.id,
            actor.email,
            {
                "name": old.name,
                "successor": str(made.row.id),
                "overlap_hours": overlap_hours,
                "before": {"token": str(old.id)},
                "after": {"token": str(made.row.id)},
            },
        )
    )
    return made


def _may_rotate(actor: Actor, row: AccessToken) -> bool:
    """Return whether the actor has all permissions of the token: rotating it reveals a new one."""
    return row.user_id == actor.user_id or (
        row.user.is_service
        and not actor.is_service
        and actor.may(Permission.MEMBERS_WRITE)
        and covers_service_account(actor, row.user_id, row.scopes)
    )


def _successor(actor: Actor, old: AccessToken) -> NewToken:
    secret, at = new_secret(), clock.now()
    row = AccessToken.objects.create(
        vouched_by_id=old.vouched_by_id,
        org_id=old.org_id,
        user=old.user,
        team=old.team,
        name=old.name,
        digest=digest_of(secret),
        hint=secret[:8],
        made_by=actor.email,
        scopes=old.scopes,
        networks=old.networks,
        cluster=old.cluster,
        created_at=at,
        expires_at=None if old.expires_at is None else at + (old.expires_at - old.created_at),
    )
    return NewToken(row, secret)


def covers_service_account(
    actor: Actor, user_id: UUID, scopes: Collection[str] = (ALL_SCOPES,)
) -> bool:
    """Return whether the actor's roles grant all that a service account may do in these scopes.

    Compared in the current organization and in each team. Restrictions of the actor's own token
    apply to the scopes (`_checked_scopes`).
    """
    assert actor.org_id is not None
    org = Organization.objects.get(id=actor.org_id)
    own, other = (
        replace(actor, token=None),
        Actor(user_id=user_id, email="", is_service=True).enter(org),
    )
    request = [
        permission
        for permission in all_permissions()
        if ALL_SCOPES in scopes or permission in scopes
    ]
    return all(
        own.may(permission, team)
        for team in (None, *other.team_roles)
        for permission in request
        if other.may(permission, team)
    )


def revoke_tokens_of(user_id: UUID, team_id: UUID | None = None, *, by: str = "muster") -> None:
    """Revoke a user's tokens in the current organization, or only those for `team_id`.

    `by` is recorded as the actor.
    """
    rows = AccessToken.objects.filter(user_id=user_id, revoked_at=None)
    rows = rows.filter(team_id=team_id) if team_id else rows
    ended = list(rows.filter(attempt_id=None).values_list("id", "org_id", "name", "scopes"))
    rows.update(revoked_at=clock.now())
    record_all(
        EventRecord(
            "token.revoked",
            org_id,
            "token",
            pk,
            by,
            {"name": name, "why": "membership removed", "before": {"scopes": scopes}},
        )
        for pk, org_id, name, scopes in ended
    )


def revoke_vouched(
    provider_id: UUID, users: Collection[UUID] | None = None, *, by: str, why: str
) -> None:
    """Revoke tokens created in sessions that the provider signed in.

    `users` None: those of all users.
    """
    with platform_scope("revoke tokens everywhere a provider's sign-in was used"):
        rows = AccessToken.objects.filter(vouched_by=provider_id, revoked_at=None)
        rows = rows if users is None else rows.filter(user_id__in=users)
        ended = list(rows.values_list("id", "org_id", "name", "scopes"))
        AccessToken.objects.filter(id__in=[pk for pk, *_ in ended]).update(revoked_at=clock.now())
    record_all(
        EventRecord(
            "token.revoked",
            org_id,
            "token",
            pk,
            by,
            {"name": name, "why": why, "before": {"scopes": scopes}},
        )
        for pk, org_id, name, scopes in ended
    )


def _check_still_vouched(provider_id: UUID, user_id: UUID) -> None:
    """Raise NotPermitted if the session's provider no longer vouches for the user.

    Sessions may outlive that, but new tokens must not. Takes the locks of whoever unlinks the
    account.
    """
    with platform_scope("a provider's sign-in is valid in every organization"):
        provider = (
            Provider.objects.select_for_update(of=("self",))
            .filter(id=provider_id, is_enabled=True)
            .first()
        )
        is_known = (
            Identity.objects.select_for_update(of=("self",))
            .filter(provider=provider_id, user_id=user_id, gone_since=None)
            .exists()
        )
    if provider is None or not is_known:
        raise NotPermitted(
            Message(
                "Your provider no longer vouches for you, so this session cannot create tokens. "
                "Sign in again."
            )
        )


@dataclass(frozen=True)
class Bearer:
    """Who carries an attempt's token."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    attempt_id: UUID
    name: str


def issue_attempt_tokens(bearers: Sequence[Bearer]) -> list[str]:
    """Issue the tokens of running jobs, restricted to their team and attempt.

    Idempotent: after a worker died, an attempt that may already be running gets the same token.
    """
    secrets, scopes = (
        [secret_of_attempt(bearer.attempt_id) for bearer in bearers],
        [str(scope) for scope in JOB_SCOPES],
    )
    at, none = clock.now(), (list[str](), "", "", "")
    insert_rows(
        AccessToken,
        (
            "id",
            "org",
            "team",
            "user",
            "attempt_id",
            "name",
            "digest",
            "hint",
            "scopes",
            "created_at",
            "networks",
            "cluster",
            "made_by",
            "last_used_address",
        ),
        [
            (
                uuid7(),
                b.org_id,
                b.team_id,
                b.user_id,
                b.attempt_id,
                b.name[:100],
                digest_of(secret),
                secret[:8],
                scopes,
                at,
                *none,
            )
            for b, secret in zip(bearers, secrets, strict=True)
        ],
        is_new=False,
    )
    return secrets


def revoke_attempt_tokens(attempt_ids: Iterable[UUID]) -> None:
    """Delete the tokens of attempts that have ended."""
    AccessToken.objects.filter(attempt_id__in=list(attempt_ids)).delete()


def _check_narrower(actor: Actor, team_id: UUID | None, networks: Sequence[str]) -> None:
    """Check that a token creates no token with a wider reach."""
    if actor.token and actor.token.team_id and team_id != actor.token.team_id:
        raise NotPermitted(
            Message("A token limited to a team can only create tokens for that team.")
        )
    if actor.token and not are_within(networks, actor.token.networks):
        raise NotPermitted(
            Message(
                "A token limited to networks can only create tokens for the same or narrower ones."
            )
        )


def _check_cluster(actor: Actor, cluster: str, scopes: Sequence[str]) -> None:
    """Check the cluster of a node agent's token; only what agents do is limited to clusters."""
    if not cluster:
        return
    authorize(actor, Permission.AGENT_WRITE)
    if list(scopes) != [Permission.AGENT_WRITE]:
        raise InvalidInput.at(
            "scopes",
            Message(
                "must be {scope} alone, because the token is limited to a cluster",
                scope=str(Permission.AGENT_WRITE),
            ),
        )
    if not has_cluster(cluster):
        raise InvalidInput.at(
            "cluster", Message("there is no cluster {name}", name=repr(cluster[:40]))
        )


def _check_vouched(actor: Actor, old: AccessToken) -> None:
    """Deny users limited to one provider's organization the tokens of less limited sessions."""
    if actor.only_org and old.user_id == actor.user_id and old.vouched_by_id != actor.vouched_by:
        raise NotPermitted(
            Message(
                "This token was created after signing in another way. Sign in that way to rotate "
                "it, or create a new one."
            )
        )


def _checked_scopes(actor: Actor, given: Sequence[str]) -> list[str]:
    """Return the scopes, with those of a purpose instead of its name (`token_presets`)."""
    scopes = with_presets(given)
    known = {ALL_SCOPES, *map(str, all_permissions())}
    wrong = [s for s in scopes if s not in known]
    if wrong or not scopes:
        raise InvalidInput.at(
            "scopes",
            Message(
                "{words}: choose from {names}",
                context="error of a field",
                words=", ".join(map(repr, wrong)) or "empty",
                names=", ".join(sorted(known)),
            ),
        )
    if (
        actor.token
        and ALL_SCOPES not in actor.token.scopes
        and not set(scopes) <= actor.token.scopes
    ):
        raise NotPermitted(
            Message("A token can only create tokens with scopes that it has itself.")
        )
    return sorted(set(scopes))
