"""Page: the user's own sessions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from portal.core.errors import PortalError
from portal.core.messages import Message
from workspaces.identity.sessions import end_other_sessions, end_session, sessions_of


@require_http_methods(["GET", "HEAD", "POST"])
def sessions(request: Any) -> HttpResponse:
    """List sessions; POST with `id` ends one, without it all others."""
    actor = request.actor
    if actor is None or actor.token is not None:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST":
        _end(request)
        return redirect(request.path)
    rows = sessions_of(actor.user_id, request.session.session_key or "")
    return render(
        request,
        "account/sessions.html",
        {
            "page_title": Message("Signed-in devices", context="page title"),
            "sessions": rows,
        },
    )


def _end(request: Any) -> None:
    actor = request.actor
    try:
        if given := request.POST.get("id"):
            end_session(actor.user_id, UUID(given), actor=actor.email)
            messages.success(request, Message("That session is signed out."))
        else:
            count = end_other_sessions(
                actor.user_id, request.session.session_key, actor=actor.email
            )
            messages.success(
                request,
                Message.plural(
                    count,
                    Message("Signed out everywhere else: {count} session."),
                    Message("Signed out everywhere else: {count} sessions."),
                    count=count,
                ),
            )
    except (PortalError, ValueError):
        messages.error(request, Message("There is no such session, or it has ended."))
