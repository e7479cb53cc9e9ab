"""Pages: settings to enter at the provider: URLs, and the token of its SCIM client."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.identity import provider_services as service
from workspaces.identity.scim import tokens
from workspaces.models import Provider, ScimToken
from workspaces.web.base import page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure


@page(P.PROVIDERS_READ, ("GET", "HEAD", "POST"))
def other_side(request: Any, slug: str) -> HttpResponse:
    """Show the URLs; create and revoke the token, which is shown once."""
    row = service.find_provider(request.actor, slug)
    here, secret = f"/{request.org.slug}/directories/{row.short_name}", ""
    if request.method == "POST":
        with FormErrors(request):
            if request.POST.get("do") == "end":
                tokens.revoke_scim_token(actor=request.actor, provider=row)
                messages.success(request, Message("The token no longer works."))
            elif not is_resubmitted(request):
                with release_on_failure(request):
                    secret = tokens.create_scim_token(actor=request.actor, provider=row)
        if not secret:
            return redirect(f"{here}/other-side")
    return render(
        request,
        "workspaces/directories/other_side.html",
        {
            "page_title": Message("Provider setup", context="page title"),
            "crumbs": [
                (Message("Sign-in", context="navigation"), f"/{request.org.slug}/directories"),
                (row.name, here),
            ],
            "row": row,
            "addresses": addresses_of(row),
            "has_scim": row.kind in tokens.KINDS,
            "secret": secret,
            "token": ScimToken.objects.filter(provider=row).first(),
            "may_write": request.actor.may(P.PROVIDERS_WRITE),
        },
    )


def addresses_of(row: Provider) -> list[tuple[str, str]]:
    """Return labels and URLs."""

    def at(name: str) -> str:
        return settings.MUSTER_BASE_URL + reverse(name, kwargs={"slug": row.slug})

    found = []
    if row.kind == Provider.Kind.OIDC:
        found = [("Redirect address", at("account_sso_callback"))]
    if row.kind == Provider.Kind.SAML:
        found = [
            ("Metadata, which is also our entity id", at("account_saml_metadata")),
            ("Assertion consumer (POST)", at("account_saml_acs")),
        ]
    return [
        *found,
        *(
            [("SCIM 2.0", f"{settings.MUSTER_BASE_URL}/scim/v2/{row.slug}")]
            if row.kind in tokens.KINDS
            else []
        ),
    ]
