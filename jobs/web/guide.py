"""Page with the first steps of an organization."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.selectors.first_steps import progress, steps_of
from workspaces.access.permissions import Permission as P
from workspaces.organizations import services as organization_services
from workspaces.web.base import action, page


@page(P.ORG_ADMIN, ("GET", "HEAD", "POST"))
def guide(request: Any) -> HttpResponse:
    """Show progress and next steps; rename the organization; dismiss or restore the guide."""
    given = request.POST
    if request.method == "POST" and given.get("do") == "name":
        return action(
            request,
            request.path,
            _("The organization was renamed."),
            lambda: organization_services.rename_org(
                actor=request.actor, org=request.org, name=given.get("name", "")
            ),
        )
    if request.method == "POST":
        wants = given.get("do") == "show"
        back = request.path if wants else f"/{request.org.slug}/"
        done = (
            _("The setup guide is shown on Home again.")
            if wants
            else _("The setup guide is hidden. You can still open it at /guide.")
        )
        return action(
            request,
            back,
            done,
            lambda: organization_services.show_guide(
                actor=request.actor, org=request.org, is_shown=wants
            ),
        )
    steps = steps_of(request.org)
    return render(
        request,
        "jobs/guide.html",
        {
            "page_title": pgettext("page title", "Setup guide"),
            "progress": progress(steps),
            "steps": [
                {
                    "step": step,
                    "may": request.actor.may(step.needs),
                    "url": step.url(request.org),
                }
                for step in sorted(steps, key=lambda step: step.is_done)
            ],
        },
    )
