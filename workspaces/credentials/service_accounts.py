"""Service accounts: members of an organization that are not people, and their tokens.

They cannot be used to escalate privileges: roles are given as to users (`role_grants`), and the
creator of a token must have all permissions it allows, in the same places. Service accounts cannot
manage service accounts.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import IntegrityError, transaction

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from workspaces.access.actors import ALL_SCOPES, Actor, authorize
from workspaces.access.permissions import OrgRole, Permission
from workspaces.access.role_grants import check_org_role, check_org_role_of
from workspaces.credentials.tokens import (
    NewToken,
    TokenParams,
    covers_service_account,
    issue_token,
    revoke_tokens_of,
)
from workspaces.models import Membership, Organization, ServiceAccount, Team, TeamMembership, User
from workspaces.models.access import SERVICE_DOMAIN
from workspaces.organizations.names import SLUG, lock_organization


@transaction.atomic
def create_service_account(
    *, actor: Actor, org: Organization, name: str, note: str = "", role: str = OrgRole.MEMBER
) -> ServiceAccount:
    """Create a service account without teams. Raises InvalidInput, Conflict, NotPermitted."""
    _authorize(actor)
    if not SLUG.match(name):
        raise InvalidInput.at(
            "name",
            Message(
                "must be 2 to 40 of a-z, 0-9 and '-', begin with a letter and not end with '-'"
            ),
        )
    lock_organization(org.id)
    role, note = _role(actor, org, role), _note(note)
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                f"{name}@{org.slug}{SERVICE_DOMAIN}", name=name, is_service=True
            )
            row = ServiceAccount.objects.create(
                org=org, user=user, name=name, note=note, made_by=actor.email
            )
    except IntegrityError as error:
        raise Conflict.at(
            "name",
            Message(
                "The name {name} is, or was, used by a service account in {slug}; choose "
                "another one.",
                name=repr(name),
                slug=org.slug,
            ),
            code="name_taken",
        ) from error
    Membership.objects.create(org=org, user=user, role=role)
    _record("service_account.created", actor, row, after={"role": role, "note": note})
    return row


@transaction.atomic
def change_service_account(
    *, actor: Actor, account: ServiceAccount, role: str | None = None, note: str | None = None
) -> ServiceAccount:
    """Change role or note of a service account. Raises InvalidInput, NotPermitted."""
    _authorize(actor)
    lock_organization(account.org_id)
    before = _membership(account)
    check_org_role_of(actor, before)
    was = {"role": before.role, "note": account.note}
    if role is not None and _role(actor, account.org, role) != before.role:
        before.role = role
        before.save(update_fields=["role"])
    if note is not None and _note(note) != account.note:
        account.note = _note(note)
        account.save(update_fields=["note"])
    if changed := changes(was, {"role": before.role, "note": account.note})["after"]:
        _record(
            "service_account.changed",
            actor,
            account,
            before={name: was[name] for name in changed},
            after=changed,
        )
    return account


@transaction.atomic
def remove_service_account(*, actor: Actor, account: ServiceAccount) -> None:
    """Remove a service account from all teams and revoke its tokens.

    Its jobs stay under its name, which is never reused.
    """
    _authorize(actor)
    lock_organization(account.org_id)
    membership = _membership(account)
    check_org_role_of(actor, membership)
    membership.delete()
    TeamMembership.objects.filter(user_id=account.user_id).delete()
    revoke_tokens_of(account.user_id, by=actor.email)
    User.objects.filter(id=account.user_id).update(is_active=False)
    ServiceAccount.objects.filter(id=account.id).update(removed_at=clock.now())
    _record(
        "service_account.removed",
        actor,
        account,
        before={"role": membership.role, "note": account.note},
    )


@transaction.atomic
def create_service_token(*, actor: Actor, account: ServiceAccount, params: TokenParams) -> NewToken:
    """Create a token for a service account. Raises InvalidInput, NotPermitted."""
    _authorize(actor)
    _check_covers(actor, account, params.scopes)
    team: Team | None = params.team
    if team and not TeamMembership.objects.filter(team=team, user_id=account.user_id).exists():
        raise InvalidInput.at(
            "team", f"{account.name} is not in {team.slug}: add it on the team's page first"
        )
    return issue_token(actor, account.org, account.user_id, params)


def _authorize(actor: Actor) -> None:
    authorize(actor, Permission.MEMBERS_WRITE)
    if actor.is_service:
        raise NotPermitted(Message("Service accounts cannot manage service accounts."))


def _check_covers(
    actor: Actor, account: ServiceAccount, scopes: Collection[str] = (ALL_SCOPES,)
) -> None:
    if not covers_service_account(actor, account.user_id, scopes):
        raise NotPermitted(
            Message(
                "The service account {name} has permissions that you lack; managing it "
                "requires all of them.",
                name=account.name,
            )
        )


def _membership(account: ServiceAccount) -> Membership:
    row = Membership.objects.filter(user_id=account.user_id).first()
    if row is None:
        raise NotFound(Message("The service account {name} was removed.", name=account.name))
    return row


def _role(actor: Actor, org: Organization, role: str) -> str:
    if role == OrgRole.OWNER:
        raise InvalidInput.at("role", "must be another role: service accounts cannot be owners")
    return check_org_role(actor, org, role)


def _note(note: str) -> str:
    note = note.strip()
    if len(note) > 200 or not note.isprintable():
        raise InvalidInput.at(
            "note",
            Message("must be at most {n} characters long, without control characters", n=200),
        )
    return note


def _record(kind: str, actor: Actor, account: ServiceAccount, **data: object) -> None:
    record(
        EventRecord(
            kind,
            account.org_id,
            "service_account",
            account.id,
            actor.email,
            {"name": account.name, **data},
        )
    )
