"""Somebody comes back from their provider: who that is here, and linking what belongs to one person. Linked by (provider, subject)
only; an address is a claim."""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn
from uuid import UUID

from django.db import IntegrityError, transaction

from portal.core import clock
from portal.core.errors import Conflict, NotFound, NotPermitted
from portal.core.events import Fact, record
from workspaces.credentials.tokens import revoke_vouched
from workspaces.identity.claims import Said, is_within
from workspaces.identity.provisioning_services import Person, admit
from workspaces.models import Identity, Membership, Provider, TeamMembership, User
from workspaces.tenancy.scope import org_scope, platform_scope


def sign_in(provider: Provider, said: Said) -> User:
    """The account of whom the provider names, made now if a rule lets them in. Raises NotPermitted, Conflict, in words that say
    whom to ask."""
    known = (
        Identity.objects.select_related("user")
        .filter(provider=provider, subject=said.subject)
        .first()
    )
    if known is None:
        _refuse_stranger(provider, said)
    elif known.gone_since:
        _turn_away(provider)
    elif known.user.is_operator and provider.org_id:
        raise NotPermitted(
            "An operator's account is not opened by an organization's own sign-in. Use your password."
        )
    user = admit(provider, _person(provider, said, known))
    answered(provider)
    return user


@transaction.atomic
def link(*, user: User, provider: Provider, said: Said) -> Identity:
    """What the signed-in person proved to be there is theirs from now on. Raises NotPermitted, Conflict."""
    if user.is_operator and provider.org_id:
        raise NotPermitted(
            "An operator's account is never linked to an organization's own provider: its administrators choose whom it names."
        )
    if Identity.objects.filter(provider=provider, user=user).exclude(subject=said.subject).exists():
        raise Conflict(
            f"Your account is linked to another account of {provider.name}. Unlink that first."
        )
    try:
        with transaction.atomic():
            row, is_new = Identity.objects.get_or_create(
                provider=provider,
                subject=said.subject,
                defaults={
                    "user": user,
                    "login": said.login,
                    "email": said.email,
                    "groups": sorted(said.groups or ()),
                },
            )
    except IntegrityError:
        raise Conflict("Somebody linked it at this moment. Look again.") from None
    if row.user_id != user.id:
        raise Conflict(f"This account of {provider.name} belongs to another person here.")
    if row.gone_since:
        _turn_away(provider)
    admit(provider, _person(provider, said, row))
    _refuse_outsider(provider, user)
    if is_new:
        _tell("person.linked", provider, user, said.subject)
    return row


@transaction.atomic
def unlink(*, user: User, identity_id: UUID) -> None:
    """No longer a way in to this account. Raises NotFound, Conflict when it is the only one or one by which access is given and ended."""
    with platform_scope("a person's own identity, of any organization's provider"):
        row = (
            Identity.objects.select_related("provider__org", "user")
            .filter(id=identity_id, user=user)
            .first()
        )
    if row is None:
        raise NotFound("There is no such link, or it is not yours.")
    if why := why_linked(row):
        raise Conflict(why)
    revoke_vouched(
        row.provider_id, [user.id], by=user.email, why="its owner unlinked what let them in"
    )
    row.delete()
    _tell("person.unlinked", row.provider, user, row.subject)


def why_linked(row: Identity) -> str:
    """Why its person may not unlink it; empty when they may."""
    if (
        not row.user.has_usable_password()
        and Identity.objects.filter(user=row.user_id, gone_since=None).exclude(id=row.id).count()
        == 0
    ):
        return "It is your only way to sign in. Set a password first."
    return (
        f"{row.provider.name} gives and ends your access here. Ask {_whom(row.provider)} to unlink it."
        if _binds(row)
        else ""
    )


def _binds(row: Identity) -> bool:
    """Unlinked, its provider could no longer take what it gave."""
    if row.gone_since or row.provider.org_id is None:
        return True
    with platform_scope("what a provider gave a person"):
        return any(
            model.objects.filter(user=row.user_id, provider=row.provider).exists()
            for model in (Membership, TeamMembership)
        )


@platform_scope("how a provider answered at a sign-in")
def answered(provider: Provider) -> None:
    """It speaks with us; written once an hour, and when that was in doubt."""
    at = clock.now()
    if provider.trouble or provider.seen_at is None or provider.seen_at < at - timedelta(hours=1):
        Provider.objects.filter(id=provider.id).update(seen_at=at, trouble="", trouble_since=None)


@platform_scope("how a provider answered at a sign-in")
def failed(provider: Provider, why: str) -> None:
    """What its administrators see on its page."""
    if provider.trouble != why[:500]:
        Provider.objects.filter(id=provider.id).update(
            trouble=why[:500], trouble_since=provider.trouble_since or clock.now()
        )


def _person(provider: Provider, said: Said, known: Identity | None) -> Person:
    """Groups that were not told stay as they were."""
    groups = said.groups if said.groups is not None else frozenset(known.groups if known else ())
    return Person(said.subject, said.email, said.name, said.login, groups)


def _refuse_stranger(provider: Provider, said: Said) -> None:
    if not said.email:
        raise NotPermitted(f"{provider.name} knows you, but {said.why}. Ask {_whom(provider)}.")
    if (
        provider.org and not provider.domains
    ):  # told before whether there is such an account: its administrators choose the address
        raise Conflict(
            f"{provider.name} opens accounts that are linked to it only, as no operator has given it e-mail domains. Sign in to your "
            f"account with its password, and link {provider.name} on your account's page; if you have none, ask {_whom(provider)} to "
            "invite you.",
            code="not_linked",
        )
    if not is_within(said.email, provider.domains):
        raise NotPermitted(
            f"{said.email} is not an address that {provider.name} speaks for here. Ask {_whom(provider)}."
        )
    if User.objects.filter(email=said.email).exists():
        raise Conflict(
            f"There is an account for {said.email} already, and an address alone proves nothing. Sign in to it with its "
            f"password, and link {provider.name} on your account's page.",
            code="not_linked",
        )


def _turn_away(provider: Provider) -> NoReturn:
    raise NotPermitted(f"{provider.name} has ended your access here. Ask {_whom(provider)}.")


def _refuse_outsider(provider: Provider, user: User) -> None:
    if provider.org is None:
        return
    with org_scope(provider.org.id):
        if not Membership.objects.filter(user=user, suspended_at=None).exists():
            raise NotPermitted(
                f"You do not belong to {provider.org.name}, and none of your groups gives you access there."
            )


def _whom(provider: Provider) -> str:
    return (
        f"an administrator of {provider.org.name}"
        if provider.org
        else "an operator of this installation"
    )


def _tell(kind: str, provider: Provider, user: User, subject: str) -> None:
    record(
        Fact(
            kind,
            provider.org_id,
            "user",
            user.id,
            user.email,
            {"provider": provider.slug, "subject": subject, "email": user.email},
        )
    )
