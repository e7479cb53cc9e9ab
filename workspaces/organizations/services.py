"""Manage organizations, teams and members. Every change is one transaction with its event."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from portal.core import clock
from portal.core.email_addresses import normalized_email
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import OrgRole, Permission, TeamRole
from workspaces.access.role_grants import (
    check_org_role,
    check_org_role_of,
    check_team_role,
    may_lead,
)
from workspaces.credentials.tokens import revoke_tokens_of
from workspaces.models import Membership, Organization, Team, TeamMembership, User
from workspaces.models.access import SERVICE_DOMAIN
from workspaces.organizations.consent import is_unused_account
from workspaces.organizations.names import check_slug, clean_name, lock_organization
from workspaces.quotas.guarantee_ends import end_guarantees
from workspaces.tenancy.scope import org_scope

RESERVED = frozenset(
    {
        "about",
        "accounts",
        "admin",
        "agent",
        "api",
        "apps",
        "assets",
        "auth",
        "dav",
        "favicon.ico",
        "healthz",
        "help",
        "hf",
        "identity",
        "login",
        "logout",
        "metrics",
        "mlflow",
        "new",
        "oauth",
        "oidc",
        "platform",
        "readyz",
        "robots.txt",
        "s3",
        "saml",
        "scim",
        "settings",
        "static",
        "v1",
        "v2",
        "ws",
        "xet",
    }
)


@transaction.atomic
def create_org(*, actor: Actor, slug: str, name: str, owner: User) -> Organization:
    """Create an organization with its first owner. Operators only.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    if not actor.is_operator:
        raise NotPermitted(Message("Only a platform operator can create organizations."))
    check_slug(slug)
    if slug in RESERVED:
        raise InvalidInput.at(
            "slug",
            Message(
                "{name} is an address of the portal itself; choose another name", name=repr(slug)
            ),
        )
    try:
        with transaction.atomic():  # the unique constraint decides between concurrent requests
            org = Organization.objects.create(slug=slug, name=clean_name(name or slug))
    except IntegrityError as error:
        raise Conflict.at(
            "slug",
            Message("There is already an organization {slug}.", slug=repr(slug)),
            code="name_taken",
        ) from error
    with org_scope(org.id):
        Membership.objects.create(org=org, user=owner, role=OrgRole.OWNER)
    _record(
        "org.created",
        actor,
        org.id,
        "org",
        org.id,
        after={"slug": slug, "name": org.name, "owner": owner.email},
    )
    return org


@transaction.atomic
def require_second_factor(*, actor: Actor, org: Organization, is_required: bool) -> Organization:
    """Set whether every member must have a second factor.

    Members without one are prompted to add it, and their tokens do not work here until then. Whoever
    turns it on must have one. Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.ORG_ADMIN)
    if is_required and not actor.has_second_factor:
        raise Conflict(
            Message("You do not have a second factor: add one first, or this would lock you out.")
        )
    if org.requires_second_factor != is_required:
        org.requires_second_factor = is_required
        org.save(update_fields=["requires_second_factor"])
        _record(
            "org.second_factor_required" if is_required else "org.second_factor_not_required",
            actor,
            org.id,
            "org",
            org.id,
            name=org.slug,
            before={"requires_second_factor": not is_required},
            after={"requires_second_factor": is_required},
        )
    return org


@transaction.atomic
def rename_org(*, actor: Actor, org: Organization, name: str) -> Organization:
    """Change the display name. The slug stays, as URLs contain it.

    Raises InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.ORG_ADMIN)
    before, org.name = org.name, clean_name(name)
    org.save(update_fields=["name"])
    _record(
        "org.renamed",
        actor,
        org.id,
        "org",
        org.id,
        name=org.slug,
        before={"name": before},
        after={"name": org.name},
    )
    return org


@transaction.atomic
def show_guide(*, actor: Actor, org: Organization, is_shown: bool) -> None:
    """Set whether the home page shows owners the first steps. Raises NotPermitted."""
    authorize(actor, Permission.ORG_ADMIN)
    if org.has_guide != is_shown:
        org.has_guide = is_shown
        org.save(update_fields=["has_guide"])
        _record(
            "org.guide_shown" if is_shown else "org.guide_put_away",
            actor,
            org.id,
            "org",
            org.id,
            name=org.slug,
            before={"has_guide": not is_shown},
            after={"has_guide": is_shown},
        )


@transaction.atomic
def create_team(*, actor: Actor, org: Organization, slug: str, name: str = "") -> Team:
    """Create a team. The actor becomes its lead unless that would grant them more permissions.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.TEAMS_WRITE)
    check_slug(slug)
    if slug == "org":
        raise InvalidInput.at(
            "slug", Message("“org” means the organization itself; choose another name")
        )
    lock_organization(org.id)
    if Team.objects.filter(slug=slug).exists():
        raise Conflict.at(
            "slug",
            Message("There is already a team {slug} in {slug2}.", slug=repr(slug), slug2=org.slug),
            code="name_taken",
        )
    team = Team.objects.create(org=org, slug=slug, name=clean_name(name or slug))
    if (
        actor.user_id
        and may_lead(actor)
        and Membership.objects.filter(user_id=actor.user_id).exists()
    ):
        TeamMembership.objects.create(org=org, team=team, user_id=actor.user_id, role=TeamRole.LEAD)
    _record(
        "team.created",
        actor,
        org.id,
        "team",
        team.id,
        name=slug,
        after={"slug": slug, "name": team.name},
    )
    return team


@transaction.atomic
def rename_team(*, actor: Actor, team: Team, name: str) -> Team:
    """Change the display name. The slug stays, as URLs contain it."""
    authorize(actor, Permission.TEAMS_WRITE, team)
    before, team.name = team.name, clean_name(name)
    team.save(update_fields=["name"])
    _record(
        "team.renamed",
        actor,
        team.org_id,
        "team",
        team.id,
        name=team.slug,
        before={"name": before},
        after={"name": team.name},
    )
    return team


@transaction.atomic
def add_member(
    *,
    actor: Actor,
    org: Organization,
    email: str,
    name: str = "",
    role: str = OrgRole.MEMBER,
    has_agreed: bool = False,
) -> Membership:
    """Add a member, creating an account without a password if needed.

    Users with an account in use must have agreed, unless an operator adds them. Raises
    InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    lock_organization(org.id)
    role = check_org_role(actor, org, role)
    user = person_of(email, name)
    if Membership.objects.filter(user=user).exists():
        raise Conflict.at(
            "email",
            Message("{email} is already a member of {slug}.", email=user.email, slug=org.slug),
        )
    if not (has_agreed or actor.is_operator or is_unused_account(user)):
        raise Conflict.at(
            "email",
            Message(
                "{email} already has an account and can only join by invitation.", email=user.email
            ),
            code="has_account",
        )
    membership = Membership.objects.create(org=org, user=user, role=role)
    _record("member.added", actor, org.id, "user", user.id, name=user.email, after={"role": role})
    return membership


@transaction.atomic
def change_member(
    *, actor: Actor, org: Organization, email: str, role: str, was: str = ""
) -> Membership:
    """Change a member's role in the organization.

    The last owner stays one, and nobody grants or revokes more than they have. Raises Conflict if
    the role is no longer `was`.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    lock_organization(org.id)
    role = check_org_role(actor, org, role)
    membership = _membership(email, user__is_service=False)
    _check_may_change(actor, membership, keeps=role == OrgRole.OWNER)
    _check_role_seen(membership.role, was)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    _record(
        "member.changed",
        actor,
        org.id,
        "user",
        membership.user_id,
        name=email,
        before={"role": before},
        after={"role": role},
    )
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, org: Organization, email: str) -> None:
    """Remove a member from the organization and its teams, and revoke their tokens. Jobs stay."""
    authorize(actor, Permission.MEMBERS_WRITE)
    lock_organization(org.id)
    membership = _membership(email, user__is_service=False)
    _check_may_change(actor, membership, keeps=False)
    seats = TeamMembership.objects.filter(user_id=membership.user_id)
    teams = dict(seats.order_by("team__slug").values_list("team__slug", "role"))
    seats.delete()
    revoke_tokens_of(membership.user_id, by=actor.email)
    end_guarantees(org.id, [membership.user_id], by=actor.email)
    membership.delete()
    _record(
        "member.removed",
        actor,
        org.id,
        "user",
        membership.user_id,
        name=email,
        before={"role": membership.role, "teams": teams},
    )


@transaction.atomic
def suspend_member(*, actor: Actor, org: Organization, email: str) -> Membership:
    """Suspend a membership: it has no effect until it is restored. Jobs and roles stay.

    Revokes the member's tokens here. Raises Conflict for members of a directory, which would
    restore them.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    lock_organization(org.id)
    membership = _membership(email, user__is_service=False)
    if membership.user_id == actor.user_id:
        raise Conflict(Message("You can't suspend yourself."))
    _check_is_manual(membership)
    _check_may_change(actor, membership, keeps=False)
    if membership.suspended_at is not None:
        raise Conflict(Message("{email} is already suspended.", email=email))
    membership.suspended_at = clock.now()
    membership.save(update_fields=["suspended_at"])
    revoke_tokens_of(membership.user_id, by=actor.email)
    _record(
        "member.suspended",
        actor,
        org.id,
        "user",
        membership.user_id,
        name=email,
        before=membership.role,
        after=f"{membership.role} (suspended)",
    )
    return membership


@transaction.atomic
def restore_member(*, actor: Actor, org: Organization, email: str) -> Membership:
    """End the suspension of a membership. Revoked tokens stay revoked.

    Raises Conflict for members whom a directory suspended.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    lock_organization(org.id)
    membership = _membership(email, user__is_service=False)
    _check_is_manual(membership)
    check_org_role_of(actor, membership)
    if membership.suspended_at is None:
        raise Conflict(Message("{email} isn't suspended here.", email=email))
    membership.suspended_at = None
    membership.save(update_fields=["suspended_at"])
    _record(
        "member.restored",
        actor,
        org.id,
        "user",
        membership.user_id,
        name=email,
        before=f"{membership.role} (suspended)",
        after=membership.role,
    )
    return membership


@transaction.atomic
def add_team_member(
    *, actor: Actor, team: Team, email: str, role: str = TeamRole.MEMBER
) -> TeamMembership:
    """Add a member of the organization to a team.

    Raises InvalidInput, NotFound, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE, team)
    lock_organization(team.org_id)
    membership = _membership(email)
    if TeamMembership.objects.filter(team=team, user_id=membership.user_id).exists():
        raise Conflict.at(
            "email", Message("{email} is already in team {slug}.", email=email, slug=team.slug)
        )
    role = check_team_role(actor, team, role, membership.user_id)
    row = TeamMembership.objects.create(
        org_id=team.org_id, team=team, user_id=membership.user_id, role=role
    )
    _record(
        "team_member.added",
        actor,
        team.org_id,
        "team",
        team.id,
        name=team.slug,
        email=email,
        after={"role": role},
    )
    return row


@transaction.atomic
def change_team_member(
    *, actor: Actor, team: Team, email: str, role: str, was: str = ""
) -> TeamMembership:
    """Change a member's role in the team. Raises Conflict if it is no longer `was`."""
    authorize(actor, Permission.MEMBERS_WRITE, team)
    lock_organization(team.org_id)
    row = _team_membership(team, email)
    _check_role_seen(row.role, was)
    before, row.role = row.role, check_team_role(actor, team, role, row.user_id)
    row.save(update_fields=["role"])
    _record(
        "team_member.changed",
        actor,
        team.org_id,
        "team",
        team.id,
        name=team.slug,
        email=email,
        before={"role": before},
        after={"role": row.role},
    )
    return row


@transaction.atomic
def remove_team_member(*, actor: Actor, team: Team, email: str) -> None:
    """Remove a member from a team and revoke their tokens for it. Jobs stay."""
    authorize(actor, Permission.MEMBERS_WRITE, team)
    lock_organization(team.org_id)
    row = _team_membership(team, email)
    revoke_tokens_of(row.user_id, team_id=team.id, by=actor.email)
    row.delete()
    _record(
        "team_member.removed",
        actor,
        team.org_id,
        "team",
        team.id,
        name=team.slug,
        email=email,
        before={"role": row.role},
    )


def _check_role_seen(role: str, was: str) -> None:
    if was and role != was:
        raise Conflict(
            Message("The role was changed since: it is {role} now. Nothing was done.", role=role)
        )


def checked_email(email: str) -> str:
    """Return the e-mail address in lower case. Raises InvalidInput."""
    typed, email = email, normalized_email(email)
    if not email:
        raise InvalidInput.at(
            "email",
            Message("{text} is not an email address", text=repr(typed.strip().lower()[:80])),
        )
    if email.endswith(SERVICE_DOMAIN):
        raise InvalidInput.at(
            "email", "is reserved for service accounts, which are created on their own page"
        )
    return email


def person_of(email: str, name: str) -> User:
    """Return the user, creating an account without a password if needed. Raises InvalidInput."""
    email = checked_email(email)
    name = clean_name(name) if name else ""
    try:
        with transaction.atomic():
            return User.objects.filter(email=email).first() or User.objects.create_user(
                email, name=name
            )
    except IntegrityError:  # created concurrently by another organization
        return User.objects.get(email=email)


def _membership(email: str, **also: bool) -> Membership:
    rows = Membership.objects.select_related("user", "provider")
    row = rows.filter(user__email=email.lower(), **also).first()
    if row is None:
        raise NotFound(Message("{email} is not a member of this organization.", email=email))
    return row


def _team_membership(team: Team, email: str) -> TeamMembership:
    row = TeamMembership.objects.filter(team=team, user__email=email.lower()).first()
    if row is None:
        raise NotFound(Message("{email} is not in team {slug}.", email=email, slug=team.slug))
    return row


def _check_is_manual(membership: Membership) -> None:
    """Check that no directory decides about this membership."""
    if membership.provider is not None:
        raise Conflict(
            Message(
                "{email} is managed by {directory}. Suspend or restore them there.",
                email=membership.user.email,
                directory=membership.provider.name,
            )
        )


def _check_may_change(actor: Actor, membership: Membership, *, keeps: bool) -> None:
    """Check that nobody changes a member with more permissions, and that an owner remains."""
    check_org_role_of(actor, membership)
    if membership.role != OrgRole.OWNER:
        return
    owners = Membership.objects.filter(role=OrgRole.OWNER).count()
    if not keeps and owners < 2:
        raise Conflict(Message("An organization needs an owner: appoint another owner first."))


def _record(
    kind: str, actor: Actor, org_id: Any, subject: str, subject_id: Any, **data: Any
) -> None:
    record(EventRecord(kind, org_id, subject, subject_id, actor.email, data))
