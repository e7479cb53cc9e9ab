"""Pages: applications that use Muster for sign-in. Operators only."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import pgettext

from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.identity.oidc_provider import applications as service
from workspaces.lists import APPLICATIONS
from workspaces.web.base import action, page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure


@page(APPLICATIONS.permission, ("GET", "HEAD", "POST"))
def applications(request: Any) -> HttpResponse:
    """List and register applications. The secret is shown once, in this response."""
    if request.method != "POST":
        return _shown(request)
    made = None
    with FormErrors(request):
        made = service.create_application(
            actor=request.actor,
            client_id=request.POST.get("client_id", "").strip(),
            name=request.POST.get("name", "").strip(),
            addresses=request.POST.get("addresses", "").splitlines(),
            needs_pkce="without_pkce" not in request.POST,
        )
    return _shown(request, made=made)


@page(APPLICATIONS.permission, ("GET", "HEAD", "POST"))
def application(request: Any, client: str) -> HttpResponse:
    """Show an application; edit or delete it, or rotate its secret, which is shown once."""
    if request.method != "POST":
        return _page(request, client)
    back, verb = "/platform/applications", request.POST.get("verb", "")
    if verb == "renew":
        if is_resubmitted(request):
            return redirect(request.path)
        with release_on_failure(request):
            made = service.renew_secret(actor=request.actor, client_id=client)
            return _page(request, client, made)
    if verb == "remove":
        return action(
            request,
            back,
            pgettext("message", "{name} deleted.").format(name=client),
            lambda: service.remove_application(actor=request.actor, client_id=client),
        )
    return action(
        request,
        request.path,
        pgettext("message", "{name} saved.").format(name=client),
        lambda: service.change_application(
            actor=request.actor,
            client_id=client,
            name=request.POST.get("name"),
            addresses=request.POST.get("addresses", "").splitlines(),
            needs_pkce="without_pkce" not in request.POST,
        ),
    )


def _page(request: Any, client: str, made: service.NewApplication | None = None) -> HttpResponse:
    row = service.find_application(request.actor, client)
    return render(
        request,
        "workspaces/application.html",
        {
            "page_title": row.name,
            "crumbs": [(pgettext("navigation", "Applications"), "/platform/applications")],
            "row": service.application_row(row),
            "may_write": request.actor.may(P.APPLICATIONS_WRITE),
            "made": made,
        },
    )


def _shown(request: Any, made: service.NewApplication | None = None, **more: Any) -> HttpResponse:
    return APPLICATIONS.render(
        request,
        "workspaces/applications.html",
        {
            "page_title": pgettext("page title", "Applications"),
            "issuer": settings.MUSTER_BASE_URL,
            "described": f"{settings.MUSTER_BASE_URL}/.well-known/openid-configuration",
            "may_write": request.actor.may(P.APPLICATIONS_WRITE),
            "made": made,
            **more,
        },
    )
