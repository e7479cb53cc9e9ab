"""Administer the installation: create organizations, suspend and reinstate users.

Operators only.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.utils.translation import gettext as _

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record_all
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.identity.mfa import update_has_second_factor
from workspaces.identity.sessions import end_other_sessions
from workspaces.models import Membership, Organization, User
from workspaces.organizations.services import create_org, person_of
from workspaces.tenancy.scope import platform_scope


@transaction.atomic
def create_org_with_owner(
    *, actor: Actor, slug: str, name: str, email: str, owner_name: str = ""
) -> tuple[Organization, User]:
    """Create an organization with its first owner, whose account is created if needed.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    owner = person_of(email, owner_name)
    if not owner.is_active:
        raise Conflict.at(
            "email",
            _("%(email)s is suspended and cannot own an organization.") % {"email": owner.email},
        )
    return create_org(actor=actor, slug=slug, name=name, owner=owner), owner


@transaction.atomic
def suspend_person(*, actor: Actor, user_id: UUID, why: str) -> User:
    """Suspend a user: sign them out and disable their tokens. Memberships and jobs stay.

    Raises InvalidInput, Conflict, NotFound, NotPermitted.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    why, user = _reason(why), _locked(user_id)
    if user.id == actor.user_id:
        raise Conflict(_("You cannot suspend yourself."))
    if user.suspended_at is not None:
        raise Conflict(_("%(email)s is already suspended.") % {"email": user.email})
    user.is_active, user.suspended_at, user.suspended_why = False, clock.now(), why
    user.save(update_fields=["is_active", "suspended_at", "suspended_why"])
    end_other_sessions(user.id, None, actor=actor.email, why="suspended")
    _record_event(
        "person.suspended",
        actor,
        user,
        why=why,
        before={"is_active": True},
        after={"is_active": False},
    )
    return user


@transaction.atomic
def reinstate_person(*, actor: Actor, user_id: UUID) -> User:
    """End a suspension; tokens work again. Raises Conflict, NotFound, NotPermitted."""
    authorize(actor, Permission.PLATFORM_ADMIN)
    user = _locked(user_id)
    if user.is_active:
        raise Conflict(_("%(email)s is not suspended.") % {"email": user.email})
    user.is_active, user.suspended_at, user.suspended_why = True, None, ""
    user.save(update_fields=["is_active", "suspended_at", "suspended_why"])
    _record_event(
        "person.reinstated", actor, user, before={"is_active": False}, after={"is_active": True}
    )
    return user


@transaction.atomic
def sign_out_everywhere(*, actor: Actor, user_id: UUID) -> int:
    """End all sessions of a user and return their number. Tokens stay.

    Raises NotFound, NotPermitted.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    user = _locked(user_id)
    count = end_other_sessions(user.id, None, actor=actor.email, why="signed out by an operator")
    _record_event(
        "person.signed_out",
        actor,
        user,
        sessions=count,
        before={"sessions": count},
        after={"sessions": 0},
    )
    return count


@transaction.atomic
def remove_second_factors(*, actor: Actor, user_id: UUID, why: str) -> User:
    """Remove the second factors of a user who lost them and proved their identity otherwise.

    `why` says how. The user is signed out everywhere, and signs in by password alone until they set
    up a factor again. Raises InvalidInput, Conflict, NotFound, NotPermitted.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    why, user = _reason(why), _locked(user_id)
    if user.id == actor.user_id:
        raise Conflict(_("Another operator has to do this for you."))
    rows = Authenticator.objects.filter(user=user)
    kinds = sorted(rows.values_list("type", flat=True))
    if not kinds:
        raise Conflict(_("%(email)s has no second factor.") % {"email": user.email})
    rows.delete()
    update_has_second_factor(user.id)
    end_other_sessions(user.id, None, actor=actor.email, why="second factor removed")
    _record_event(
        "person.factors_taken_off",
        actor,
        user,
        why=why,
        before={"factors": kinds},
        after={"factors": []},
    )
    return user


def _reason(why: str) -> str:
    """Return the cleaned reason. Raises InvalidInput."""
    why = " ".join(why.split())
    if not why or len(why) > 200 or not why.isprintable():
        raise InvalidInput.at(
            "why", _("must give a reason of 1 to 200 characters, which the audit log records")
        )
    return why


def _locked(user_id: UUID) -> User:
    user = User.objects.select_for_update().filter(id=user_id, is_service=False).first()
    if user is None:
        raise NotFound(_("There is no such user."))
    return user


def _record_event(kind: str, actor: Actor, user: User, **data: Any) -> None:
    """Record an event for the installation and for each organization of the user."""
    with platform_scope("record account events in each organization of the user"):
        orgs = list(
            Membership.objects.filter(user_id=user.id)
            .order_by("org_id")
            .values_list("org_id", flat=True)
        )
    record_all(
        EventRecord(kind, org_id, "user", user.id, actor.email, {"name": user.email, **data})
        for org_id in (None, *orgs)
    )
