"""Resolve a provider's sign-in to an account, and link or unlink identities.

Identities are matched by (provider, subject) only; an e-mail address is a claim, not proof.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn
from uuid import UUID

from django.db import IntegrityError, transaction

from portal.core import clock
from portal.core.errors import Conflict, NotFound, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.credentials.tokens import revoke_vouched
from workspaces.identity.claims import InvalidClaims, ProviderClaims, is_within
from workspaces.identity.provisioning import EVERYONE
from workspaces.identity.provisioning_services import ProviderPerson, admit
from workspaces.models import GroupRule, Identity, Membership, Provider, TeamMembership, User
from workspaces.tenancy.scope import org_scope, platform_scope


def sign_in(provider: Provider, claims: ProviderClaims) -> User:
    """Return the account of a provider's user, creating it if a group rule grants access.

    Raises NotPermitted, Conflict or InvalidClaims, with a message that says whom to contact.
    """
    known = (
        Identity.objects.select_related("user")
        .filter(provider=provider, subject=claims.subject)
        .first()
    )
    if known is None:
        _check_new_account(provider, claims)
    elif known.gone_since:
        _refuse_removed(provider)
    elif known.user.is_operator and provider.org_id:
        raise NotPermitted(
            Message(
                "Operator accounts can't sign in through an organization's provider. Use your "
                "password."
            )
        )
    if claims.groups_why and _names_groups(provider):
        return _without_groups(provider, claims, known)
    user = admit(provider, _person(provider, claims, known))
    record_success(provider)
    return user


@transaction.atomic
def link(*, user: User, provider: Provider, claims: ProviderClaims) -> Identity:
    """Link the provider identity that the signed-in user has just proved to their account.

    Raises NotPermitted, Conflict, InvalidClaims.
    """
    if claims.groups_why and _names_groups(provider):
        raise _unknown_groups(provider, claims)
    if user.is_operator and provider.org_id:
        raise NotPermitted(
            Message(
                "Operator accounts can't be linked to an organization's provider, because its "
                "administrators control who it identifies."
            )
        )
    if (
        Identity.objects.filter(provider=provider, user=user)
        .exclude(subject=claims.subject)
        .exists()
    ):
        raise Conflict(
            Message(
                "Your account is already linked to another account of {name}. Unlink that one "
                "first.",
                name=provider.name,
            )
        )
    try:
        with transaction.atomic():
            row, is_new = Identity.objects.get_or_create(
                provider=provider,
                subject=claims.subject,
                defaults={
                    "user": user,
                    "login": claims.login,
                    "email": claims.email,
                    "groups": sorted(claims.groups or ()),
                },
            )
    except IntegrityError:
        raise Conflict(
            Message("The account was linked by another request at the same time. Reload the page.")
        ) from None
    if row.user_id != user.id:
        raise Conflict(
            Message("This account of {name} is already linked to another user.", name=provider.name)
        )
    if row.gone_since:
        _refuse_removed(provider)
    admit(provider, _person(provider, claims, row))
    _check_membership(provider, user)
    if is_new:
        _record("person.linked", provider, user, claims.subject)
    return row


@transaction.atomic
def unlink(*, user: User, identity_id: UUID) -> None:
    """Unlink an identity from the user's account.

    Raises NotFound. Raises Conflict when the identity is the only way to sign in, or its provider
    manages the user's access.
    """
    with platform_scope("identities of a user across organizations"):
        row = (
            Identity.objects.select_related("provider__org", "user")
            .filter(id=identity_id, user=user)
            .first()
        )
    if row is None:
        raise NotFound(Message("This linked account doesn't exist or isn't yours."))
    if why := why_linked(row):
        raise Conflict(why)
    revoke_vouched(
        row.provider_id,
        [user.id],
        by=user.email,
        why="its owner unlinked the identity it depends on",
    )
    row.delete()
    _record("person.unlinked", row.provider, user, row.subject)


def why_linked(row: Identity) -> str:
    """Return why the user may not unlink this identity, or an empty string if they may."""
    if (
        not row.user.has_usable_password()
        and Identity.objects.filter(user=row.user_id, gone_since=None).exclude(id=row.id).count()
        == 0
    ):
        return Message("This is your only way to sign in. Set a password first.")
    return (
        Message(
            "{name} manages your access here. Ask {provider} to unlink it.",
            name=row.provider.name,
            provider=_contact(row.provider),
        )
        if _manages_access(row)
        else ""
    )


def _manages_access(row: Identity) -> bool:
    """Return whether unlinking would leave access that the provider could no longer revoke."""
    return bool(row.gone_since) or row.provider.org_id is None or _has_role_from(row)


def _has_role_from(row: Identity) -> bool:
    """Return whether the provider of an identity granted a role to its user."""
    with platform_scope("roles granted by a provider"):
        return any(
            model.objects.filter(user=row.user_id, provider=row.provider).exists()
            for model in (Membership, TeamMembership)
        )


@platform_scope("status of a provider at sign-in")
def record_success(provider: Provider) -> None:
    """Record a successful answer: at most once an hour, or at once after a failure."""
    at = clock.now()
    if provider.trouble or provider.seen_at is None or provider.seen_at < at - timedelta(hours=1):
        Provider.objects.filter(id=provider.id).update(seen_at=at, trouble="", trouble_since=None)


@platform_scope("status of a provider at sign-in")
def record_failure(provider: Provider, why: str) -> None:
    """Record a failure for the administrators who look at the provider's page."""
    if provider.trouble != why[:500]:
        Provider.objects.filter(id=provider.id).update(
            trouble=why[:500], trouble_since=provider.trouble_since or clock.now()
        )


@platform_scope("group rules of a provider at sign-in")
def _names_groups(provider: Provider) -> bool:
    """Return whether a rule depends on groups, and not only on being known to the provider."""
    return GroupRule.objects.filter(provider=provider).exclude(group=EVERYONE).exists()


def _without_groups(provider: Provider, claims: ProviderClaims, known: Identity | None) -> User:
    """Sign in somebody whose groups are unknown, if none of their roles comes from the provider.

    Nothing is granted or removed. Raises InvalidClaims: such a role could have ended long ago.
    """
    if known is None or _has_role_from(known):
        raise _unknown_groups(provider, claims)
    record_failure(provider, str(_unknown_groups(provider, claims)))
    record(
        EventRecord(
            "sign_in.groups_unknown",
            provider.org_id,
            "user",
            known.user_id,
            known.user.email,
            {"provider": provider.slug, "subject": claims.subject, "why": claims.groups_why},
        )
    )
    return known.user


def _unknown_groups(provider: Provider, claims: ProviderClaims) -> InvalidClaims:
    who = claims.email or claims.login or claims.subject
    return InvalidClaims(
        f"it identified {who[:100]}, but {claims.groups_why}, so no role can be confirmed, and "
        f"nothing was changed; ask {_contact(provider)} to make it send only the names of the "
        "groups that the group rules use"
    )


def _person(provider: Provider, claims: ProviderClaims, known: Identity | None) -> ProviderPerson:
    """Combine the claims with the stored groups, which stay as they are if none were sent."""
    groups = (
        claims.groups if claims.groups is not None else frozenset(known.groups if known else ())
    )
    return ProviderPerson(claims.subject, claims.email, claims.name, claims.login, groups)


def _check_new_account(provider: Provider, claims: ProviderClaims) -> None:
    if not claims.email:
        raise NotPermitted(
            Message(
                "{name} identified you, but {why}. Contact {provider}.",
                name=provider.name,
                why=claims.why,
                provider=_contact(provider),
            )
        )
    # Checked before the account lookup: this provider's administrators choose the addresses it
    # sends, so the answer must not reveal whether an account exists.
    if provider.org and not provider.domains:
        raise Conflict(
            Message(
                "{name} can only sign in to linked accounts, because no e-mail domains are "
                "assigned to it. Sign in with your password and link {name2} on your account "
                "page. If you have no account, ask {provider} to invite you.",
                name=provider.name,
                name2=provider.name,
                provider=_contact(provider),
            ),
            code="not_linked",
        )
    if not is_within(claims.email, provider.domains):
        raise NotPermitted(
            Message(
                "{name} isn't allowed to sign in {email}. Contact {provider}.",
                name=provider.name,
                email=claims.email,
                provider=_contact(provider),
            )
        )
    if User.objects.filter(email=claims.email).exists():
        raise Conflict(
            Message(
                "An account for {email} already exists. Sign in with its password, then link "
                "{name} on your account page.",
                email=claims.email,
                name=provider.name,
            ),
            code="not_linked",
        )


def _refuse_removed(provider: Provider) -> NoReturn:
    raise NotPermitted(
        Message(
            "{name} has ended your access. Contact {provider}.",
            name=provider.name,
            provider=_contact(provider),
        )
    )


def _check_membership(provider: Provider, user: User) -> None:
    if provider.org is None:
        return
    with org_scope(provider.org.id):
        if not Membership.objects.filter(user=user, suspended_at=None).exists():
            raise NotPermitted(
                Message(
                    "You aren't a member of {name}, and none of your groups grants access to it.",
                    name=provider.org.name,
                )
            )


def _contact(provider: Provider) -> Message:
    if provider.org:
        return Message("an administrator of {name}", name=provider.org.name)
    return Message("an operator of this installation")


def _record(kind: str, provider: Provider, user: User, subject: str) -> None:
    record(
        EventRecord(
            kind,
            provider.org_id,
            "user",
            user.id,
            user.email,
            {"provider": provider.slug, "subject": subject, "email": user.email},
        )
    )
