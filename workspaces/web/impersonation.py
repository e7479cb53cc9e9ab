"""Start and stop impersonation.

The session key is rotated both times, so that it cannot be used across them.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from portal.web.form_errors import FormErrors
from workspaces.access import impersonation
from workspaces.access.actors import ACTS_AS
from workspaces.access.permissions import Permission as P
from workspaces.identity.sessions import cycle_session_key
from workspaces.tenancy.http import end_impersonation
from workspaces.web.base import page
from workspaces.web.tokens import whole


@page(P.PLATFORM_IMPERSONATE, ("POST",))
def act_as(request: Any, person: UUID) -> HttpResponse:
    """Start impersonating a user."""
    with FormErrors(request):
        row = impersonation.act_as(
            actor=request.actor,
            user_id=person,
            why=request.POST.get("why", ""),
            minutes=whole(request, "minutes", "60"),
        )
        cycle_session_key(request)
        request.session[ACTS_AS] = str(row.id)
        return redirect("start")
    return redirect("platform-person", person=person)


@require_POST
def stop(request: Any) -> HttpResponse:
    """Stop impersonating."""
    if request.actor is None:
        return redirect_to_login("/")
    with FormErrors(request):
        impersonation.stop_acting(actor=request.actor)
        end_impersonation(request)
        messages.success(request, _("You stopped impersonating."))
    return redirect("start")
