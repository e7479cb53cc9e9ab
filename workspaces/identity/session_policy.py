"""Decide which organizations a new session may enter, by how the user signed in."""

from __future__ import annotations

from uuid import UUID

from allauth.account.authentication import get_authentication_records
from django.http import HttpRequest

from portal.core.errors import NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import CLOSED, ONLY_ORG, VOUCHED_BY
from workspaces.access.permissions import OrgRole
from workspaces.identity.provider_rows import KINDS
from workspaces.models import Membership, Provider, User
from workspaces.tenancy.scope import platform_scope


def session_limits(request: HttpRequest, user: User) -> dict[str, object]:
    """Return the session keys: the only organization it may enter, or those it may not."""
    provider = _provider_of(request, user)
    if provider is None:
        closed = orgs_requiring_sso(user)
        return {CLOSED: {str(org_id): name for org_id, name in closed.items()}} if closed else {}
    return {ONLY_ORG: str(provider.org_id), VOUCHED_BY: str(provider.id)} if provider.org_id else {}


@platform_scope("organizations that require single sign-on")
def orgs_requiring_sso(user: User) -> dict[UUID, str]:
    """Return the organizations that require single sign-on of this user, with the provider's name.

    Owners are exempt.
    """
    domain = user.email.rpartition("@")[2]
    rows = [
        row
        for row in Provider.objects.filter(kind__in=KINDS, is_enabled=True, org__isnull=False)
        if row.config.get("is_required") and domain in row.domains
    ]
    if not rows or user.is_operator:
        return {}
    mine = set(
        Membership.objects.filter(user=user, suspended_at=None)
        .exclude(role=OrgRole.OWNER)
        .values_list("org_id", flat=True)
    )
    return {row.org_id: row.name for row in rows if row.org_id and row.org_id in mine}


def has_no_other_way(request: HttpRequest, user: User) -> str:
    """Return the provider to use if this local password would open no organization, else ""."""
    closed = {} if _provider_of(request, user) else orgs_requiring_sso(user)
    if not closed:
        return ""
    with platform_scope("organizations that require single sign-on"):
        elsewhere = (
            Membership.objects.filter(user=user, suspended_at=None)
            .exclude(org_id__in=closed)
            .exists()
        )
    return "" if elsewhere else ", ".join(sorted(set(closed.values())))


def _provider_of(request: HttpRequest, user: User) -> Provider | None:
    """Return the provider that vouches for this sign-in, according to allauth's records.

    A directory's record is followed by one of the password typed for it. A local password has no
    directory record (`workspaces.identity.auth_backend`). Raises NotPermitted if the provider is
    gone, as the session would otherwise be unrestricted.
    """
    named = provider_slug_of(request, user)
    if not named:
        return None
    with platform_scope("the provider of a session, in any organization"):
        provider = Provider.objects.filter(slug=named, is_enabled=True).first()
    if provider is None:  # removed or disabled between the password and the second factor
        raise NotPermitted(
            Message(
                "The identity provider you signed in with is no longer available. Sign in again."
            )
        )
    return provider


def provider_slug_of(request: HttpRequest, user: User) -> str:
    """Return the slug of the provider used to sign in; empty for a local password or passkey."""
    records = get_authentication_records(request, user)
    has_directory = any(r.get("method") == "directory" for r in records)
    ways = [
        r
        for r in records
        if r.get("method") in ("socialaccount", "directory")
        or (r.get("method") == "password" and not has_directory)
    ]
    return str(ways[-1].get("provider") or "") if ways else ""
