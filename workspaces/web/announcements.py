"""Pages: announcements."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_POST

from portal.core import times
from portal.core.errors import InvalidInput, NotFound
from workspaces.access.permissions import Permission as P
from workspaces.lists import ANNOUNCEMENTS
from workspaces.models import Announcement
from workspaces.organizations import announcement_services
from workspaces.organizations.announcements import dismiss
from workspaces.web.base import action, local_path, page


@page(ANNOUNCEMENTS.permission, ("GET", "HEAD", "POST"))
def announcements(request: Any) -> HttpResponse:
    """List current and scheduled announcements, publish and withdraw them."""
    if request.method == "POST" and request.POST.get("do") == "withdraw":
        return action(
            request,
            request.path,
            _("Announcement withdrawn."),
            lambda: announcement_services.withdraw_announcement(
                actor=request.actor, org=request.org, pk=_id(request)
            ),
        )
    if request.method == "POST":
        return action(
            request, request.path, _("Announcement published."), lambda: _announce(request)
        )
    return ANNOUNCEMENTS.render(
        request,
        "workspaces/announcements.html",
        {
            "page_title": pgettext("page title", "Announcements"),
            "may_speak_to_all": request.actor.may(P.PLATFORM_ADMIN),
        },
    )


@require_POST
def dismiss_announcement(request: Any, announcement: UUID) -> HttpResponse:
    """Hide an announcement for this session and return to the previous page.

    Account pages and the platform's pages show announcements too, so no organization is needed.
    """
    if request.actor is not None:
        dismiss(request.session, announcement)
    return redirect(local_path(request.POST.get("back", ""), "/"))


def _announce(request: Any) -> None:
    given = request.POST
    announcement_services.announce(
        actor=request.actor,
        org=None if given.get("wide") else request.org,
        text=given.get("text", ""),
        level=given.get("level", Announcement.Level.NOTE),
        begins_at=_moment(given, "from"),
        ends_at=_moment(given, "until"),
    )


def _moment(given: Any, name: str) -> datetime | None:
    """Parse the value of a datetime-local input in the reader's zone, unless it has its own offset."""
    text = given.get(name, "").strip()
    try:
        found = datetime.fromisoformat(text) if text else None
        zone = times.zone.get()
        return found.replace(tzinfo=found.tzinfo or zone).astimezone(UTC) if found else None
    except (ValueError, OverflowError):
        raise InvalidInput.at(name, _("is no date and time: 2026-11-22T18:00")) from None


def _id(request: Any) -> UUID:
    try:
        return UUID(request.POST.get("id", ""))
    except ValueError:
        raise NotFound(_("There is no such announcement here.")) from None
