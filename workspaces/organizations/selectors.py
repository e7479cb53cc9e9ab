"""Read organizations, members, tokens and quotas."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from portal.core import clock
from portal.core.errors import NotFound
from portal.core.formatting import scale_of
from portal.core.messages import Message
from portal.core.shapes import Id, Time
from workspaces.access.actors import Actor
from workspaces.access.custom_roles import custom_roles_for, read_custom_roles
from workspaces.access.permissions import OrgRole, Permission
from workspaces.access.roles import role_facts, roles_of
from workspaces.credentials.token_format import live_tokens
from workspaces.models import (
    AccessToken,
    Invitation,
    Membership,
    Organization,
    Quota,
    ServiceAccount,
    Team,
    TeamMembership,
    User,
)
from workspaces.quotas.gpu_hours import next_reset, used_now, with_hours, without_limit
from workspaces.quotas.limits import GPU_HOURS, unit_of
from workspaces.tenancy.scope import platform_scope

SOON = timedelta(days=7)


class TeamShape(TypedDict):
    id: Id
    slug: str
    name: str
    role: Annotated[str, "The caller's role in the team, or empty."]
    role_title: str
    members: int
    created_at: Time


class MemberShape(TypedDict):
    email: str
    name: str
    role: str
    role_title: Annotated[str, "Display name of that role."]
    teams: Annotated[list[str], "Slugs."]
    created_at: Annotated[Time, "When they joined."]
    is_service: Annotated[bool, "A service account."]
    is_suspended: Annotated[bool, "Roles and tokens have no effect."]


class TeamRoleShape(TypedDict):
    slug: str
    role: str


class ServiceAccountShape(TypedDict):
    name: str
    email: Annotated[str, "Address to add it to teams with; it receives no mail."]
    note: str
    role: str
    role_title: Annotated[str, "Display name of that role."]
    teams: list[TeamRoleShape]
    made_by: str
    created_at: Time
    tokens: Annotated[int, "Number of active tokens."]
    last_used_at: Annotated[Time | None, "Of a token."]
    ending_soon: Annotated[int, "Tokens that expire within a week, without a successor."]


def orgs_of(actor: Actor) -> list[dict[str, Any]]:
    """Return the actor's organizations with role; for operators, all of them."""
    with platform_scope("list the organizations of the actor"):
        roles = dict(
            Membership.objects.filter(user_id=actor.user_id, suspended_at=None).values_list(
                "org_id", "role"
            )
        )
        rows = Organization.objects.order_by("slug")
        if not actor.is_operator:
            rows = rows.filter(id__in=roles)
        if only := actor.token.org_id if actor.token else actor.only_org:
            rows = rows.filter(id=only)
        if actor.closed:
            rows = rows.exclude(id__in=list(actor.closed))
        return [
            {
                "slug": org.slug,
                "name": org.name,
                "role": (role := roles.get(org.id, "")),
                "role_title": role_title("org", org.id, role),
            }
            for org in rows
        ]


def orgs_and_teams_of(actor: Actor) -> list[dict[str, Any]]:
    """Return the actor's organizations as `orgs_of`, with their teams in each."""
    teams = defaultdict(list)
    with platform_scope("list the teams of the actor"):
        for org, slug, name, role in (
            TeamMembership.objects.filter(user_id=actor.user_id)
            .order_by("team__slug")
            .values_list("org__slug", "team__slug", "team__name", "role")
        ):
            teams[org].append({"slug": slug, "name": name, "role": role})
    return [org | {"teams": teams[org["slug"]]} for org in orgs_of(actor)]


def teams_for(actor: Actor) -> list[TeamShape]:
    """Return the teams of the current organization with the actor's role and number of members."""
    return team_rows(Team.objects.order_by("slug"), actor)


def team_rows(teams: Iterable[Team], actor: Actor) -> list[TeamShape]:
    """Return teams as shown by the API and the pages."""
    counts = dict(TeamMembership.objects.values_list("team_id").annotate(n=Count("id")))
    return [
        {
            "id": t.id,
            "slug": t.slug,
            "name": t.name,
            "role": (role := actor.team_roles.get(t.id, "")),
            "role_title": role_title("team", t.org_id, role),
            "members": counts.get(t.id, 0),
            "created_at": t.created_at,
        }
        for t in teams
    ]


def member_rows(members: Sequence[Membership], actor: Actor) -> list[dict[str, Any]]:
    """Return members with role and teams."""
    teams = defaultdict(list)
    seats = TeamMembership.objects.filter(user_id__in=[m.user_id for m in members]).order_by(
        "team__slug"
    )
    for user_id, slug in seats.values_list("user_id", "team__slug"):
        teams[user_id].append(slug)
    return [
        _member(m.user, m.role, m.created_at)
        | {
            "role_title": role_title("org", m.org_id, m.role),
            "teams": teams[m.user_id],
            "is_suspended": m.is_suspended,
        }
        for m in members
    ]


def number_of_members() -> int:
    """Return the number of members, including suspended ones."""
    return people().count()


def names_of_members() -> list[Any]:
    """Return addresses and names of the members."""
    return list(
        people().order_by("user__email").values(email=F("user__email"), name=F("user__name"))
    )


def candidates_for(team: Team) -> list[Any]:
    """Return addresses and names of active members and service accounts, who may join the team."""
    known = TeamMembership.objects.filter(team=team).values("user_id")
    rows = (
        Membership.objects.filter(suspended_at=None, user__is_active=True)
        .exclude(user_id__in=known)
        .order_by("user__email")
    )
    return list(rows.values(email=F("user__email"), name=F("user__name")))


def without_second_factor(emails: Sequence[str]) -> set[str]:
    """Return those of these members who lack a second factor.

    Requires permission to manage members.
    """
    return set(
        people()
        .filter(user__email__in=emails, user__has_second_factor=False)
        .values_list("user__email", flat=True)
    )


def suspensions_of(actor: Actor) -> list[dict[str, Any]]:
    """Return the organizations that suspended the actor, with the directory and the owners."""
    with platform_scope("list the organizations that suspended the user"):
        rows = (
            Membership.objects.filter(user_id=actor.user_id, suspended_at__isnull=False)
            .select_related("org", "provider")
            .order_by("org__slug")
        )
        if only := actor.token.org_id if actor.token else actor.only_org:
            rows = rows.filter(org_id=only)
        found = list(rows.exclude(org_id__in=list(actor.closed)))
        owners = defaultdict(list)
        seats = Membership.objects.filter(
            org_id__in=[m.org_id for m in found],
            role=OrgRole.OWNER,
            suspended_at=None,
            user__is_active=True,
        )
        for org_id, email in seats.order_by("user__email").values_list("org_id", "user__email"):
            owners[org_id].append(email)
        return [
            {
                "name": m.org.name,
                "directory": m.provider.name if m.provider else "",
                "owners": owners[m.org_id],
            }
            for m in found
        ]


def service_account_rows(rows: Sequence[ServiceAccount], actor: Actor) -> list[ServiceAccountShape]:
    """Return service accounts with role, teams, and numbers of active and expiring tokens."""
    users = [row.user_id for row in rows]
    roles = dict(Membership.objects.filter(user_id__in=users).values_list("user_id", "role"))
    teams, tokens = defaultdict[UUID, list[TeamRoleShape]](list), defaultdict(list)
    for seat in (
        TeamMembership.objects.filter(user_id__in=users)
        .select_related("team")
        .order_by("team__slug")
    ):
        teams[seat.user_id].append({"slug": seat.team.slug, "role": seat.role})
    for token in live_tokens().filter(user_id__in=users, attempt_id=None):
        tokens[token.user_id].append(token)
    return [
        {
            "name": row.name,
            "email": row.user.email,
            "note": row.note,
            "role": roles.get(row.user_id, ""),
            "role_title": role_title("org", row.org_id, roles.get(row.user_id, "")),
            "teams": teams[row.user_id],
            "made_by": row.made_by,
            "created_at": row.created_at,
            "tokens": len(tokens[row.user_id]),
            "last_used_at": max(
                (t.last_used_at for t in tokens[row.user_id] if t.last_used_at), default=None
            ),
            "ending_soon": sum(ends_soon(t) for t in tokens[row.user_id]),
        }
        for row in rows
    ]


def service_account(name: str) -> ServiceAccount:
    """Return a service account of the current organization. Raises NotFound."""
    row = (
        ServiceAccount.objects.filter(name=name, removed_at=None)
        .select_related("user", "org")
        .first()
    )
    if row is None:
        raise NotFound(Message("There is no service account {x} here.", x=repr(name[:40])))
    return row  # type: ignore[no-any-return]


def members_of_team(team: Team) -> list[dict[str, Any]]:
    """Return the members of a team."""
    rows = TeamMembership.objects.filter(team=team).select_related("user").order_by("user__email")
    suspended = set(
        Membership.objects.filter(suspended_at__isnull=False).values_list("user_id", flat=True)
    )
    return [
        _member(m.user, m.role, m.created_at)
        | {
            "role_title": role_title("team", m.org_id, m.role),
            "is_suspended": m.user_id in suspended or not m.user.is_active,
        }
        for m in rows
    ]


def org_role_of(email: str) -> str:
    """Return the role of a member in the organization, "" if there is none."""
    rows = Membership.objects.filter(user__email=email.lower())
    return rows.values_list("role", flat=True).first() or ""


def team_role_of(team: Team, email: str) -> str:
    """Return the role of a member of the team, "" if there is none."""
    rows = TeamMembership.objects.filter(team=team, user__email=email.lower())
    return rows.values_list("role", flat=True).first() or ""


def team_slugs_of(email: str) -> set[str]:
    """Return the teams in which a person has a role."""
    rows = TeamMembership.objects.filter(user__email=email.lower())
    return set(rows.values_list("team__slug", flat=True))


def limited_quotas(scope: str, subject_id: UUID, subject: str) -> list[dict[str, Any]]:
    """Return the meters of a subject that have a limit, in display units."""
    rows = Quota.objects.filter(scope=scope, subject_id=subject_id, limit__isnull=False)
    hours = used_now() if any(row.resource == GPU_HOURS for row in rows) else {}
    found = with_hours(rows, hours)
    return [quota_row(row, subject) for row in sorted(found, key=lambda row: row.resource)]


def role_title(kind: str, org_id: UUID, slug: str) -> str:
    """Return the display name of a role."""
    return role_facts(kind, slug, custom_roles_for(org_id, [slug])).title if slug else ""


def roles_here(org: Organization) -> list[dict[str, Any]]:
    """Return all roles, built-in ones first, with the number of their members."""
    own = read_custom_roles(org.id)
    counts = {
        "org": dict(Membership.objects.values_list("role").annotate(n=Count("id"))),
        "team": dict(TeamMembership.objects.values_list("role").annotate(n=Count("id"))),
    }
    return [
        {
            "slug": role.slug,
            "kind": kind,
            "name": role.title,
            "is_built_in": not role.is_own,
            "permissions": sorted(str(p) for p in role.permissions),
            "unknown": list(own[role.slug].unknown) if role.is_own else [],
            "holders": counts[kind].get(role.slug, 0),
        }
        for kind in ("org", "team")
        for role in roles_of(kind, own)
    ]


def role_here(org: Organization, slug: str) -> dict[str, Any]:
    """Return a role by slug, of the organization before those of teams. Raises NotFound."""
    found = next((role for role in roles_here(org) if role["slug"] == slug), None)
    if found is None:
        raise NotFound(Message("There is no role {x} here.", x=repr(slug[:40])))
    return found


def tokens_for(actor: Actor) -> QuerySet[AccessToken]:
    """Return the actor's active tokens, or everybody's if the actor may change members."""
    rows = live_tokens().filter(attempt_id=None).select_related("user", "team")
    return rows if actor.may(Permission.MEMBERS_WRITE) else rows.filter(user_id=actor.user_id)


def tokens_of(account: ServiceAccount) -> QuerySet[AccessToken]:
    """Return the active tokens of a service account."""
    rows = live_tokens().filter(user_id=account.user_id, attempt_id=None)
    return rows.select_related("user", "team")  # type: ignore[no-any-return]


def token_row(token: AccessToken) -> dict[str, Any]:
    """Return a token as shown by the API and the pages."""
    return {
        "id": token.id,
        "name": token.name,
        "hint": token.hint,
        "owner": token.user.email,
        "is_service": token.user.is_service,
        "team": token.team.slug if token.team else None,
        "scopes": token.scopes,
        "networks": token.networks,
        "cluster": token.cluster or None,
        "made_by": token.made_by,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "ends_soon": ends_soon(token),
        "is_rotated": token.successor_id is not None,
        "last_used_at": token.last_used_at,
        "last_used_address": token.last_used_address,
    }


def open_invitations() -> list[dict[str, Any]]:
    """Return pending invitations of the current organization, newest first."""
    rows = (
        Invitation.objects.filter(accepted_at=None, revoked_at=None)
        .select_related("made_by")
        .order_by("-created_at")
    )
    slugs = {team.id.hex: team.slug for team in Team.objects.all()}
    return [invitation_row(row, slugs) for row in rows]


def invitation_row(row: Invitation, slugs: dict[str, str] | None = None) -> dict[str, Any]:
    """Return an invitation as shown by the API and the pages, without deleted teams."""
    slugs = {team.id.hex: team.slug for team in Team.objects.all()} if slugs is None else slugs
    return {
        "id": row.id,
        "email": row.email,
        "name": row.name,
        "role": row.role,
        "teams": {
            slugs[place["team"]]: place["role"] for place in row.teams if place["team"] in slugs
        },
        "made_by": row.made_by.email if row.made_by else "",
        "created_at": row.created_at,
        "sent_at": row.sent_at,
        "expires_at": row.expires_at,
        "is_expired": row.expires_at <= clock.now(),
    }


def ends_soon(token: AccessToken) -> bool:
    """Return whether a token expires within a week and has no successor."""
    return (
        token.successor_id is None
        and token.expires_at is not None
        and token.expires_at - clock.now() < SOON
    )


def quotas_for(actor: Actor, resource: str = "") -> list[dict[str, Any]]:
    """Return the meters that the actor may see, of one resource or all, in display units.

    Those of the organization, its teams and the actor; for administrators, those of all users.
    """
    rows = Quota.objects.filter(resource=resource) if resource else Quota.objects.all()
    names, hours = _subject_names(actor), used_now() if resource in ("", GPU_HOURS) else Counter()
    if not actor.may(Permission.QUOTAS_WRITE):
        rows = rows.filter(~Q(scope=Quota.Scope.USER) | Q(subject_id=actor.user_id))
        hours = Counter(
            {
                whose: n
                for whose, n in hours.items()
                if whose[0] != Quota.Scope.USER or whose[1] == actor.user_id
            }
        )
    kept = with_hours(rows, hours)
    shown = [
        q
        for q in (*kept, *without_limit(kept, hours))
        if q.used or q.guaranteed or q.limit is not None
    ]
    names |= _leavers({q.subject_id for q in shown if q.subject_id not in names})
    found = [quota_row(q, names.get(q.subject_id, "")) for q in shown]
    order = {"org": 0, "team": 1, "user": 2}
    return sorted(found, key=lambda q: (order[q["scope"]], q["subject"], q["resource"]))


def quota_row(quota: Quota, subject: str) -> dict[str, Any]:
    """Return a meter in display units.

    cpu in cores, memory and storage in bytes, GPU-hours in hours of this month, others as counts.
    """
    scale = scale_of(quota.resource)
    return {
        "scope": quota.scope,
        "subject": subject,
        "resource": quota.resource,
        "limit": None if quota.limit is None else quota.limit / scale,
        "used": quota.used / scale,
        "guaranteed": quota.guaranteed / scale,
        "promised": quota.promised / scale,
        "left": None
        if quota.limit is None
        else max(quota.limit - quota.used - quota.promised, 0) / scale,
        "unit": unit_of(quota.resource),
        "begins_anew": next_reset() if quota.resource == GPU_HOURS else None,
    }


def _subject_names(actor: Actor) -> dict[UUID, str]:
    names: dict[UUID, str] = dict(Team.objects.values_list("id", "slug"))
    names.update(Membership.objects.values_list("user_id", "user__email"))
    if actor.org_id:
        names[actor.org_id] = actor.org_slug
    return names


def _leavers(ids: set[UUID]) -> dict[UUID, str]:
    """Return the addresses of former members: they may have usage this month, and a limit."""
    return dict(User.objects.filter(id__in=ids).values_list("id", "email")) if ids else {}


def people() -> QuerySet[Membership]:
    """Return the members who are people, including suspended ones."""
    return Membership.objects.filter(user__is_service=False)


def _member(user: User, role: str, since: Any) -> dict[str, Any]:
    return {
        "email": user.email,
        "name": user.display_name,
        "role": role,
        "created_at": since,
        "is_service": user.is_service,
    }
