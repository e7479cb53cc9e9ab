"""The page of applications that sign people in through the portal. For operators."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.core.errors import PortalError
from workspaces.permissions import Permission as P
from workspaces.services import applications as service
from workspaces.web.doors import action, page


@page(P.APPLICATIONS_READ, ("GET", "HEAD", "POST"))
def applications(request: Any) -> HttpResponse:
    """All of them, and writing one down: the secret is shown in this answer only."""
    shown: dict[str, Any] = {"page_title": "Applications", "issuer": settings.MUSTER_BASE_URL}
    if request.method == "POST":
        try:
            made = service.create_application(actor=request.actor, client_id=request.POST.get("client_id", "").strip(),
                                              name=request.POST.get("name", "").strip(), addresses=request.POST.get("addresses", "").splitlines())
            shown["made"] = {"row": made.row, "secret": made.secret}
        except PortalError as error:
            messages.error(request, error.message)
            return redirect(request.path)
    return render(request, "workspaces/applications.html", shown | {
        "rows": [service.application_row(row) for row in service.applications(request.actor)], "may_write": request.actor.may(P.APPLICATIONS_WRITE)})


@page(P.APPLICATIONS_WRITE, ("POST",))
def application(request: Any, client: str) -> HttpResponse:
    """Other addresses, another secret, or away with it."""
    back, verb = f"/{request.org.slug}/applications", request.POST.get("verb", "")
    if verb == "renew":
        made = service.renew_secret(actor=request.actor, client_id=client)
        return render(request, "workspaces/applications.html", {
            "page_title": "Applications", "issuer": settings.MUSTER_BASE_URL, "made": {"row": made.row, "secret": made.secret}, "may_write": True,
            "rows": [service.application_row(row) for row in service.applications(request.actor)]})
    if verb == "remove":
        return action(request, back, f"Nobody signs in to {client} through Muster any longer.",
                      lambda: service.remove_application(actor=request.actor, client_id=client))
    return action(request, back, f"{client} is changed.", lambda: service.change_application(
        actor=request.actor, client_id=client, name=request.POST.get("name"), addresses=request.POST.get("addresses", "").splitlines()))
