"""Start sign-in at a provider, and handle its answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter as get_accounts
from allauth.account.utils import get_next_redirect_url, perform_login
from allauth.core import ratelimit
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from requests import RequestException

from portal.core.errors import NotPermitted, PortalError, RateLimited
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.vault import Unreadable
from workspaces.identity import sign_in
from workspaces.identity.allauth_compat import record_authentication, statekit
from workspaces.identity.claims import (
    InvalidClaims,
    ProviderClaims,
    claims_from_oidc,
    claims_from_saml,
)
from workspaces.identity.error_messages import why_of
from workspaces.identity.http_client import acquire_slot, provider_requests
from workspaces.identity.oidc.protocol import Callback, OidcAdapter
from workspaces.identity.provider_rows import KINDS, provider_named
from workspaces.identity.provider_services import config_of
from workspaces.identity.reauthentication import is_reauthenticated, redirect_to_reauthenticate
from workspaces.identity.session_restrictions import only_org_in
from workspaces.models import Provider

log = logging.getLogger(__name__)
View = Callable[..., HttpResponse]


def with_provider(view: View, kinds: Sequence[str] = KINDS) -> View:
    """Pass the provider to a view, with its HTTP client, and show one page for all its errors."""

    @never_cache
    @wraps(view)
    def inside(request: HttpRequest, slug: str) -> HttpResponse:
        row = provider_named(slug, kinds)
        try:
            with provider_requests(config_of(row), row):
                return view(request, row)
        except Unreadable:
            return refused(
                request,
                slug,
                "its secret can't be decrypted; an administrator must enter it again",
            )
        except (OAuth2Error, RequestException) as error:
            return refused(request, slug, why_of(error))
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
        ):  # allauth did not expect an answer of this shape
            log.exception("provider %s", slug)
            return refused(request, slug, "its answer violates the protocol")

    return inside


@with_provider
def begin(request: HttpRequest, row: Provider) -> HttpResponse:
    """Show a button on GET, as a link must not start a sign-in; on POST, go to the provider.

    It uses an intermediate page, because forms may only post to the portal itself.
    """
    if request.method != "POST":
        return render(
            request,
            "workspaces/sso/begin.html",
            {"provider": row, "next": get_next_redirect_url(request) or ""},
        )
    if not ratelimit.consume(request, action="sso_begin"):
        raise RateLimited(
            Message("Too many sign-ins were started from this address. Try again in a minute."),
            data={"retry_after": 60},
        )
    process = (
        AuthProcess.CONNECT
        if request.POST.get("process") == AuthProcess.CONNECT
        else AuthProcess.LOGIN
    )
    if process == AuthProcess.CONNECT and (
        not request.user.is_authenticated or only_org_in(request)
    ):
        raise NotPermitted(Message("Sign in to your account first."))
    if process == AuthProcess.CONNECT and not is_reauthenticated(request):
        return redirect_to_reauthenticate(request, reverse("account_linked"))
    found = get_adapter(request).get_provider(request, row.slug)
    there = found.redirect(
        request, process, next_url=get_next_redirect_url(request), user=str(request.user.pk or "")
    )
    return onward(request, row, there["Location"]) if there.status_code == 302 else there


def _callback(request: HttpRequest, row: Provider) -> HttpResponse:
    """Handle the answer of an OpenID provider."""
    if request.GET.get("state") in statekit.get_states(request):
        acquire_slot()  # refused before the state is used, so that the page can be reloaded
    return Callback.adapter_view(OidcAdapter(request, row.slug))(request)  # type: ignore[no-any-return]


callback = with_provider(_callback, [Provider.Kind.OIDC])


def onward(request: HttpRequest, row: Provider, url: str) -> HttpResponse:
    """Show the intermediate page that leads to a provider."""
    return render(request, "workspaces/sso/onward.html", {"provider": row, "url": url})


def arrive(request: HttpRequest, login: Any) -> HttpResponse:
    """Sign in or link the person whom a verified answer identifies, or show why not."""
    row = provider_named(login.provider.app.provider_id)
    try:
        claims = _claims(row, login)
        if login.state.get("process") == AuthProcess.CONNECT:
            return _link(request, row, claims, login.state)
        user = sign_in.sign_in(row, claims)
    except InvalidClaims as error:
        return refused(request, row.slug, str(error))
    except PortalError as error:
        return _show_refusal(request, row, error)
    if request.user.is_authenticated and request.user != user:
        get_accounts(request).logout(request)
    record_authentication(request, user, "socialaccount", provider=row.slug, uid=claims.subject)
    return perform_login(request, user, redirect_url=login.state.get("next"))  # type: ignore[no-any-return]


def refused(request: HttpRequest, slug: str, why: str, *, is_theirs: bool = True) -> HttpResponse:
    """Reject a provider's answer; with `is_theirs` False it may be forged and is not recorded."""
    row = provider_named(slug)
    if is_theirs:
        sign_in.record_failure(row, why)
        record(
            EventRecord(
                "sign_in.refused",
                row.org_id,
                "provider",
                row.id,
                "",
                {"provider": row.slug, "why": why[:300]},
            )
        )
    return render(request, "workspaces/sso/refused.html", {"provider": row, "why": why}, status=401)


def _show_refusal(request: HttpRequest, row: Provider, error: PortalError) -> HttpResponse:
    record(
        EventRecord(
            "sign_in.refused",
            row.org_id,
            "provider",
            row.id,
            "",
            {"provider": row.slug, "why": error.message[:300]},
        )
    )
    return render(
        request,
        "workspaces/sso/refused.html",
        {"provider": row, "error": error, "is_linkable": error.kind == "not_linked"},
        status=error.http,
    )


def _claims(row: Provider, login: Any) -> ProviderClaims:
    config = config_of(row)
    if row.kind == Provider.Kind.SAML:
        return claims_from_saml(
            login.account.extra_data,
            subject=config.subject_attribute,
            email=config.email_attribute,
            name=config.name_attribute,
            groups=config.groups_attribute,
        )
    return claims_from_oidc(
        login.account.extra_data["claims"],
        subject_claim=config.subject_claim,
        groups_claim=config.groups_claim,
    )


def _link(
    request: Any, row: Provider, claims: ProviderClaims, state: dict[str, Any]
) -> HttpResponse:
    if (
        not request.user.is_authenticated
        or str(request.user.pk) != state.get("user")
        or only_org_in(request)
    ):
        raise NotPermitted(Message("Sign in to your account first, and start from there."))
    sign_in.link(user=request.user, provider=row, claims=claims)
    messages.success(request, Message("You can now sign in with {name}.", name=row.name))
    return redirect("account_linked")
