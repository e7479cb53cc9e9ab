"""The account page that lists linked providers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from allauth.core import ratelimit
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from portal.core.errors import NotFound, NotPermitted, RateLimited
from portal.core.messages import Message
from workspaces.identity import sign_in
from workspaces.identity.account_adapter import normalized_login
from workspaces.identity.auth_backend import directories_for, prove
from workspaces.identity.claims import ProviderClaims
from workspaces.identity.provider_rows import KINDS
from workspaces.identity.reauthentication import (
    can_confirm,
    is_reauthenticated,
    reauthentication_required,
)
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import platform_scope
from workspaces.web.base import action


@login_required
def linked(request: Any) -> HttpResponse:
    """Show the linked providers, and those that can be linked."""
    with platform_scope("identities of a user across organizations"):
        rows = list(
            Identity.objects.filter(user=request.user)
            .select_related("provider__org", "user")
            .order_by("provider__name")
        )
    return render(
        request,
        "workspaces/sso/linked.html",
        {
            "page_title": Message("Sign-in methods", context="page title"),
            "identities": [(row, sign_in.why_linked(row)) for row in rows],
            "providers": _linkable(request.user, {row.provider_id for row in rows}),
            "directories": _linkable(
                request.user, {row.provider_id for row in rows}, [Provider.Kind.LDAP]
            ),
            "may_change": is_reauthenticated(request),
            "can_confirm": can_confirm(request.user),
            "has_password": request.user.has_usable_password(),
        },
    )


@login_required
@require_POST
@reauthentication_required
def unlink(request: HttpRequest, identity: UUID) -> HttpResponse:
    """Unlink an identity."""
    return action(
        request,
        "/accounts/linked/",
        Message("Account unlinked."),
        lambda: sign_in.unlink(user=request.user, identity_id=identity),  # type: ignore[arg-type]
    )


@login_required
@require_POST
@reauthentication_required
def link_directory(request: Any, slug: str) -> HttpResponse:
    """Link a directory account with its name and password, which go to that directory only."""
    return action(
        request,
        "/accounts/linked/",
        Message("Account linked. You can now sign in with it."),
        lambda: _link_directory(request, slug),
    )


def _link_directory(request: Any, slug: str) -> None:
    provider = next(
        (row for row in _linkable(request.user, set(), [Provider.Kind.LDAP]) if row.slug == slug),
        None,
    )
    if provider is None:
        raise NotFound(Message("This directory doesn't exist or can't be linked."))
    login, password = request.POST.get("login", "").strip(), request.POST.get("password", "")
    if provider not in directories_for(login, slug):
        raise NotPermitted(
            Message(
                "{name} isn't used for this e-mail domain, which belongs to another "
                "organization. Enter your username in the directory.",
                name=provider.name,
            )
        )
    keys = (f"link {request.user.pk}", f"{slug} {normalized_login(login)}")
    if not all(ratelimit.consume(request, action="login_failed", key=key) for key in keys):
        raise RateLimited(Message("Too many attempts. Try again in five minutes."))
    person = prove(provider, login, password)
    sign_in.link(
        user=request.user,
        provider=provider,
        claims=ProviderClaims(
            subject=person.subject,
            email=person.email,
            name=person.name,
            login=person.login,
            groups=person.groups,
        ),
    )


@platform_scope("providers of a user's organizations")
def _linkable(user: User, linked: set[UUID], kinds: Sequence[str] = KINDS) -> list[Provider]:
    """Return the providers that a user may link: of the installation and of their organizations.

    An operator may link only the former.
    """
    mine = set(Membership.objects.filter(user=user).values_list("org_id", flat=True))
    rows = (
        Provider.objects.filter(kind__in=kinds, is_enabled=True)
        .exclude(id__in=linked)
        .select_related("org")
        .order_by("name")
    )
    return [
        row for row in rows if row.org_id is None or (row.org_id in mine and not user.is_operator)
    ]


def no_own_address(request: HttpRequest) -> HttpResponse:
    """Replace allauth's page of e-mail addresses, which lets users add unverified ones."""
    raise NotFound(Message("You can't change your email address here. Ask an administrator."))
