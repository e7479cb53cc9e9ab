"""Invitations: single-use links for one e-mail address into an organization and its teams.

Accepting requires that the inviter may still add members: losing that right invalidates their
invitations. A link sets the first password of a new account only; it gives no access to an account
in use.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from uuid import UUID

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.urls import reverse

from portal.core import clock
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, record, record_all
from portal.core.messages import Message
from workspaces.access.actors import Actor, actor_of, authorize
from workspaces.access.permissions import OrgRole, Permission, TeamRole
from workspaces.access.role_grants import check_org_role, check_team_role
from workspaces.credentials.token_format import digest_of
from workspaces.models import Invitation, Membership, Organization, Team, TeamMembership, User
from workspaces.organizations.consent import is_unused_account, used_accounts
from workspaces.organizations.names import clean_name
from workspaces.organizations.services import add_member, add_team_member, checked_email
from workspaces.tenancy.scope import org_scope, platform_scope

DEFAULT_DAYS, MAX_DAYS = 7, 30
NOBODY = UUID(int=0)  # no user: whoever accepts is not the inviter
_LINK_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")


@dataclass(frozen=True)
class NewInvitation:
    """The row, and the link, which is shown once."""

    row: Invitation
    url: str


@transaction.atomic
def invite(
    *,
    actor: Actor,
    org: Organization,
    email: str,
    name: str = "",
    role: str = OrgRole.MEMBER,
    teams: Mapping[str, str] | None = None,
    days: int = DEFAULT_DAYS,
) -> NewInvitation:
    """Invite a user. `teams`: role by team slug.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    errors = InputErrors()
    with errors:
        email = checked_email(email)
    with errors:
        role = check_org_role(actor, org, role)
    with errors:
        name = clean_name(name) if name else ""
    with errors:
        if not 0 < days <= MAX_DAYS:
            raise InvalidInput.at(
                "days", Message("must be between {low} and {high}", low=1, high=MAX_DAYS)
            )
    errors.raise_all()
    if Membership.objects.filter(user__email=email).exists():
        raise Conflict.at(
            "email", Message("{email} is already a member of {slug}.", email=email, slug=org.slug)
        )
    found = [_team(actor, slug, team_role) for slug, team_role in (teams or {}).items()]
    text = secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            row = Invitation.objects.create(
                org=org,
                email=email,
                name=name,
                role=role,
                teams=found,
                digest=digest_of(text),
                made_by_id=actor.user_id,
                expires_at=clock.now() + timedelta(days=days),
            )
    except IntegrityError as error:
        raise Conflict.at(
            "email",
            Message(
                "{email} is already invited: resend that invitation, or revoke it first.",
                email=email,
            ),
        ) from error
    record(
        EventRecord(
            "invitation.made",
            org.id,
            "invitation",
            row.id,
            actor.email,
            {"name": email, "after": {"role": role, "teams": dict(teams or {})}},
        )
    )
    return NewInvitation(row, url_of(text))


@dataclass(frozen=True)
class Invitee:
    """A validated row of an import file. `teams`: role by team slug."""

    email: str
    name: str
    role: str
    teams: Mapping[str, str]


@transaction.atomic
def invite_many(
    *, actor: Actor, org: Organization, guests: Sequence[Invitee], days: int = DEFAULT_DAYS
) -> list[NewInvitation]:
    """Invite many users in a few queries. None of them is a member or invited yet.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    role_of, place = (
        cache(lambda role: check_org_role(actor, org, role)),
        cache(lambda slug, role: _team(actor, slug, role)),
    )
    made = []
    for guest in guests:
        text = secrets.token_urlsafe(32)
        made.append(
            NewInvitation(
                Invitation(
                    org=org,
                    email=checked_email(guest.email),
                    name=clean_name(guest.name) if guest.name else "",
                    role=role_of(guest.role),
                    teams=[place(slug, role) for slug, role in guest.teams.items()],
                    digest=digest_of(text),
                    made_by_id=actor.user_id,
                    expires_at=clock.now() + timedelta(days=days),
                ),
                url_of(text),
            )
        )
    try:
        with transaction.atomic():
            Invitation.objects.bulk_create([one.row for one in made], batch_size=500)
    except IntegrityError as error:
        raise Conflict(
            Message("Somebody was invited concurrently. Review the import again.")
        ) from error
    record_all(
        EventRecord(
            "invitation.made",
            org.id,
            "invitation",
            one.row.id,
            actor.email,
            {"name": one.row.email, "after": {"role": one.row.role, "teams": dict(guest.teams)}},
        )
        for one, guest in zip(made, guests, strict=True)
    )
    return made


@transaction.atomic
def add_or_invite(
    *,
    actor: Actor,
    org: Organization,
    email: str,
    name: str = "",
    role: str = OrgRole.MEMBER,
    team: str = "",
) -> Membership | NewInvitation:
    """Add a user without an account, or invite one who has an account, also to a team by its slug.

    Operators add both. Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    email = checked_email(email)
    if actor.is_operator or not used_accounts([email]):
        row = add_member(actor=actor, org=org, email=email, name=name, role=role)
        if team:
            seat = {"team": Team.objects.get(slug=team), "role": TeamRole.MEMBER}
            add_team_member(actor=actor, email=email, **seat)
        return row
    teams = {team: TeamRole.MEMBER} if team else {}
    return invite(actor=actor, org=org, email=email, name=name, role=role, teams=teams)


@transaction.atomic
def renew_invitation(
    *, actor: Actor, invitation_id: UUID, days: int = DEFAULT_DAYS
) -> NewInvitation:
    """Replace the link of an invitation; the old one stops working.

    The actor becomes the inviter. Raises NotFound, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    row = open_invitation(invitation_id)
    check_org_role(actor, row.org, row.role)
    text = secrets.token_urlsafe(32)
    row.digest, row.made_by_id, row.expires_at = (
        digest_of(text),
        actor.user_id,
        clock.now() + timedelta(days=days),
    )
    row.save(update_fields=["digest", "made_by", "expires_at"])
    record(
        EventRecord(
            "invitation.renewed",
            row.org_id,
            "invitation",
            row.id,
            actor.email,
            {
                "name": row.email,
                "before": {"link": "the former one"},
                "after": {"link": "a new one"},
            },
        )
    )
    return NewInvitation(row, url_of(text))


@transaction.atomic
def widen_invitation(*, actor: Actor, invitation_id: UUID, teams: Mapping[str, str]) -> None:
    """Add teams to an invitation, keeping its link.

    Raises InvalidInput, NotFound, NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    row = open_invitation(invitation_id)
    row.teams = [*row.teams, *(_team(actor, slug, role) for slug, role in teams.items())]
    row.save(update_fields=["teams"])
    record(
        EventRecord(
            "invitation.widened",
            row.org_id,
            "invitation",
            row.id,
            actor.email,
            {"name": row.email, "after": {"teams": dict(teams)}},
        )
    )


@transaction.atomic
def revoke_invitation(*, actor: Actor, invitation_id: UUID) -> None:
    """Revoke an invitation. Raises NotFound, NotPermitted."""
    authorize(actor, Permission.MEMBERS_WRITE)
    row = open_invitation(invitation_id)
    Invitation.objects.filter(id=row.id).update(revoked_at=clock.now())
    record(
        EventRecord(
            "invitation.revoked",
            row.org_id,
            "invitation",
            row.id,
            actor.email,
            {"name": row.email, "before": {"role": row.role}},
        )
    )


def open_invitation(invitation_id: UUID) -> Invitation:
    """Return a pending invitation, even if expired. Raises NotFound."""
    row = Invitation.objects.filter(id=invitation_id, accepted_at=None, revoked_at=None).first()
    if row is None:
        raise NotFound(
            Message("There is no such invitation, or it was already accepted or revoked.")
        )
    return row  # type: ignore[no-any-return]


def invitation_of(text: str) -> Invitation:
    """Return the invitation of a link.

    Raises NotFound if the link does not work, without telling why.
    """
    row = None
    if _LINK_TOKEN.match(text):
        digests = [
            digest_of(text),
            *(digest_of(text, key) for key in settings.SECRET_KEY_FALLBACKS),
        ]
        with platform_scope("find the organization of an invitation"):
            row = (
                Invitation.objects.filter(
                    digest__in=digests,
                    accepted_at=None,
                    revoked_at=None,
                    expires_at__gt=clock.now(),
                )
                .select_related("org", "made_by")
                .first()
            )
    if row is None or row.made_by is None or not row.made_by.is_active:
        raise NotFound(
            Message(
                "This invitation is no longer valid: it was used, revoked or has expired. Ask "
                "for a "
                "new one."
            )
        )
    return row  # type: ignore[no-any-return]


def needs_account(row: Invitation) -> bool:
    """Return whether the address has no account in use yet."""
    user = User.objects.filter(email=row.email).first()
    return user is None or is_unused_account(user)


def accept(*, text: str, user: User) -> Organization:
    """Add the signed-in user, with the inviter's current permissions.

    Raises NotFound, NotPermitted.
    """
    row = invitation_of(text)
    if user.email.lower() != row.email:
        raise NotPermitted(
            Message(
                "This invitation is for {email}, and you are signed in as {email2}: sign out "
                "first, or ask for your own.",
                email=row.email,
                email2=user.email,
            )
        )
    with org_scope(row.org_id), transaction.atomic():
        if not Invitation.objects.filter(
            id=row.id, digest=row.digest, accepted_at=None, revoked_at=None
        ).update(accepted_at=clock.now()):
            raise NotFound(Message("This invitation was just used or revoked."))
        _add_as_inviter(row)
        record(
            EventRecord(
                "invitation.accepted",
                row.org_id,
                "invitation",
                row.id,
                user.email,
                {"name": row.email, "after": {"role": row.role}},
            )
        )
    return row.org  # type: ignore[no-any-return]


@transaction.atomic
def claim(*, text: str, name: str, password: str) -> User:
    """Create an account with its first password, and accept the invitation.

    Raises NotFound, Conflict, InvalidInput.
    """
    row = invitation_of(text)
    if not needs_account(row):
        raise Conflict(Message("An account with this address already exists: sign in first."))
    user = User.objects.filter(email=row.email).first() or User(email=row.email)
    user.name = clean_name(name or row.name or row.email.partition("@")[0])
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput.at("password", " ".join(error.messages)) from error
    user.set_password(password)
    user.save()
    accept(text=text, user=user)
    return user


def url_of(text: str) -> str:
    """Return the absolute URL of an invitation link."""
    return f"{settings.MUSTER_BASE_URL}{reverse('account_invitation', kwargs={'text': text})}"


def _add_as_inviter(row: Invitation) -> None:
    """Add the user as the inviter, who must still be permitted to."""
    assert row.made_by is not None
    try:
        inviter = actor_of(row.made_by).enter(row.org)
        if not Membership.objects.filter(user__email=row.email).exists():
            add_member(actor=inviter, org=row.org, email=row.email, role=row.role, has_agreed=True)
        for place in row.teams:
            team = Team.objects.filter(id=UUID(place["team"])).first()
            if (
                team
                and not TeamMembership.objects.filter(team=team, user__email=row.email).exists()
            ):
                add_team_member(actor=inviter, team=team, email=row.email, role=place["role"])
    except (NotFound, NotPermitted) as error:
        raise NotPermitted(
            Message(
                "The person who invited you may no longer add members. Ask for a new invitation."
            )
        ) from error


def _team(actor: Actor, slug: str, role: str) -> dict[str, str]:
    team = Team.objects.filter(slug=slug).first() if slug.isprintable() else None
    if team is None:
        raise InvalidInput.at(
            "teams", Message("there is no team {name} here", name=repr(slug[:40]))
        )
    authorize(actor, Permission.MEMBERS_WRITE, team)
    return {"team": team.id.hex, "role": check_team_role(actor, team, role, NOBODY)}
