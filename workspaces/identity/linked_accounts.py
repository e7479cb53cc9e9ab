"""The page of one's account that says by which providers one may sign in."""

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
from workspaces.identity import sign_in
from workspaces.identity.account_adapter import guessed_name
from workspaces.identity.auth_backend import directories_for, prove
from workspaces.identity.claims import Said
from workspaces.identity.provider_rows import KINDS
from workspaces.identity.reauthentication import can_confirm, is_proved, proof_needed
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import platform_scope
from workspaces.web.base import action


@login_required
def linked(request: Any) -> HttpResponse:
    """What is linked, and what may be."""
    with platform_scope("a person's own identities, of any organization's provider"):
        rows = list(
            Identity.objects.filter(user=request.user)
            .select_related("provider__org", "user")
            .order_by("provider__name")
        )
    return render(
        request,
        "workspaces/sso/linked.html",
        {
            "page_title": "Ways to sign in",
            "identities": [(row, sign_in.why_linked(row)) for row in rows],
            "providers": _linkable(request.user, {row.provider_id for row in rows}),
            "directories": _linkable(
                request.user, {row.provider_id for row in rows}, [Provider.Kind.LDAP]
            ),
            "may_change": is_proved(request),
            "can_confirm": can_confirm(request.user),
            "has_password": request.user.has_usable_password(),
        },
    )


@login_required
@require_POST
@proof_needed
def unlink(request: HttpRequest, identity: UUID) -> HttpResponse:
    """One way less."""
    return action(
        request,
        "/accounts/linked/",
        "It no longer opens your account.",
        lambda: sign_in.unlink(user=request.user, identity_id=identity),  # type: ignore[arg-type]
    )


@login_required
@require_POST
@proof_needed
def link_directory(request: Any, slug: str) -> HttpResponse:
    """By the name and the password that a directory knows one by: the password goes to that directory only."""
    return action(
        request,
        "/accounts/linked/",
        "It opens your account from now on.",
        lambda: _link_directory(request, slug),
    )


def _link_directory(request: Any, slug: str) -> None:
    provider = next(
        (row for row in _linkable(request.user, set(), [Provider.Kind.LDAP]) if row.slug == slug),
        None,
    )
    if provider is None:
        raise NotFound("There is no such directory for you to link.")
    login, password = request.POST.get("login", "").strip(), request.POST.get("password", "")
    if provider not in directories_for(login, slug):
        raise NotPermitted(
            f"{provider.name} is not asked for addresses of that domain, which another organization has. Use the name "
            "by which it knows you."
        )
    keys = (f"link {request.user.pk}", f"{slug} {guessed_name(login)}")
    if not all(ratelimit.consume(request, action="login_failed", key=key) for key in keys):
        raise RateLimited("Too many tries. Wait five minutes.")
    person = prove(provider, login, password)
    sign_in.link(
        user=request.user,
        provider=provider,
        said=Said(
            subject=person.subject,
            email=person.email,
            name=person.name,
            login=person.login,
            groups=person.groups,
        ),
    )


@platform_scope("a person's own organizations and their providers")
def _linkable(user: User, linked: set[UUID], kinds: Sequence[str] = KINDS) -> list[Provider]:
    """Of the installation, and of one's organizations; for an operator only the former."""
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
    """In the place of allauth's page of addresses, where anybody takes one that nobody has proved to be theirs."""
    raise NotFound("Here nobody changes their own address. Ask an administrator.")
