"""Pages: organizations and users of the installation, for operators."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.lists import ORGANIZATIONS, PEOPLE
from workspaces.organizations import platform_services
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.platform_selectors import one_person
from workspaces.web.base import action, page

READ_WRITE = ("GET", "HEAD", "POST")


@page(P.PLATFORM_ADMIN, READ_WRITE)
def organizations(request: Any) -> HttpResponse:
    """List organizations, and create one with its first owner."""
    context: dict[str, Any] = {
        "page_title": pgettext("page title", "Organizations"),
        "tab": "organizations",
    }
    if request.method == "POST":
        with FormErrors(request):
            context["made"] = _create_org(request)
    return ORGANIZATIONS.render(request, "workspaces/platform/organizations.html", context)


def _create_org(request: Any) -> dict[str, Any]:
    given = request.POST
    org, owner = platform_services.create_org_with_owner(
        actor=request.actor,
        slug=given.get("slug", "").strip(),
        name=given.get("name", ""),
        email=given.get("email", ""),
        owner_name=given.get("owner_name", "").strip(),
    )
    return {"slug": org.slug, "name": org.name, "owner": owner.email, "url": invite_url(owner)}


@page(P.PLATFORM_ADMIN)
def people(request: Any) -> HttpResponse:
    """Search users by address or name."""
    return PEOPLE.render(
        request,
        "workspaces/platform/people.html",
        {"page_title": pgettext("page title", "People"), "tab": "people"},
    )


@page(P.PLATFORM_ADMIN, READ_WRITE)
def person(request: Any, person: UUID) -> HttpResponse:
    """Show a user: sign out, remove second factors, suspend, reinstate, impersonate."""
    given = request.POST
    if request.method == "POST" and given.get("do") == "suspend":
        return action(
            request,
            request.path,
            _("Suspended and signed out. Their jobs continue."),
            lambda: platform_services.suspend_person(
                actor=request.actor, user_id=person, why=given.get("why", "")
            ),
        )
    if request.method == "POST" and given.get("do") == "sign_out":
        return action(
            request,
            request.path,
            _("Signed out everywhere. They may sign in again."),
            lambda: platform_services.sign_out_everywhere(actor=request.actor, user_id=person),
        )
    if request.method == "POST" and given.get("do") == "take_off_factors":
        return action(
            request,
            request.path,
            _("Second factor removed. They sign in with their password and can set one up again."),
            lambda: platform_services.remove_second_factors(
                actor=request.actor, user_id=person, why=given.get("why", "")
            ),
        )
    if request.method == "POST":
        return action(
            request,
            request.path,
            _("They may sign in again."),
            lambda: platform_services.reinstate_person(actor=request.actor, user_id=person),
        )
    row = one_person(person)
    return render(
        request,
        "workspaces/platform/person.html",
        {
            "page_title": row["name"],
            "crumbs": [(pgettext("navigation", "People"), "/platform/people")],
            "p": row,
            "may_act": request.actor.may(P.PLATFORM_IMPERSONATE),
        },
    )
