"""Pages: a person's notifications and their settings; unsubscribing from mail."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from notifications.channels.mail import read_unsubscribe
from notifications.kinds import BY_NAME, KINDS
from notifications.models import Preference
from notifications.schedule import zone_of
from notifications.services import inbox
from notifications.services.channels import visible_channels
from notifications.services.grouping import days_of
from notifications.services.preferences import (
    change_settings,
    note_browser,
    settings_of,
    turn_off_mail,
)
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.translation import translated
from workspaces.models import User
from workspaces.organizations.invitation_links import can_mail
from workspaces.web.base import action, local_path, page

ZONES = "zone"


@page(None, ("GET", "HEAD", "POST"))
def notifications(request: Any) -> HttpResponse:
    """List one's notifications, newest first; mark them as read."""
    here = f"/{request.org.slug}/notifications"
    if request.method == "POST":
        return _mark(request, here)
    unread, kind = request.GET.get("show") == "unread", request.GET.get("kind", "")
    before = _uuid(request.GET.get("before", ""))
    rows = inbox.notifications_of(
        request.actor, is_unread=unread, kind=kind, before=before, most=inbox.PAGE + 1
    )
    more = len(rows) > inbox.PAGE
    rows = rows[: inbox.PAGE]
    return render(
        request,
        "notifications/list.html",
        {
            "page_title": Message("Notifications", context="page title"),
            "days": days_of(
                rows, zone_of(Preference.objects.filter(user_id=request.actor.user_id).first())
            ),
            "titles": {name: translated(one.title) for name, one in BY_NAME.items()},
            "marks": {name: one.mark for name, one in BY_NAME.items()},
            "unread": inbox.unread_count(request.actor),
            "is_unread": unread,
            "is_all": not unread,
            "kind": kind,
            "kinds": [one for one in KINDS if request.actor.is_operator or not one.operators_only],
            "older": rows[-1].id if more else None,
            "has_filter": unread or bool(kind) or before is not None,
        },
    )


@page(None)
def notification(request: Any, notification: UUID) -> HttpResponse:
    """Mark a notification as read, and go to what it is about."""
    row = inbox.find_notification(request.actor, notification)
    if request.actor.acted_by is None:
        inbox.mark(request.actor, [row.id])
    return redirect(local_path(row.path, f"/{request.org.slug}/notifications"))


@page(None)
def unread(request: Any) -> HttpResponse:
    """Return the number of unread notifications, for the bell."""
    if request.actor.user_id and request.actor.acted_by is None:
        note_browser(
            request.actor.user_id,
            language=get_language() or settings.LANGUAGE_CODE,
            time_zone=request.GET.get(ZONES, "")[:64],
        )
    answer = JsonResponse({"unread": inbox.unread_count(request.actor)})
    answer["Cache-Control"] = "no-store"
    return answer


@page(None, ("GET", "HEAD", "POST"))
def notification_settings(request: Any) -> HttpResponse:
    """Show and change which notifications arrive where and when."""
    here = f"/{request.org.slug}/notifications/settings"
    if request.method == "POST":
        return action(
            request,
            here,
            Message("Notification settings saved."),
            lambda: change_settings(actor=request.actor, given=_given(request)),
        )
    actor = request.actor
    now = settings_of(actor.user_id, is_operator=actor.is_operator)
    return render(
        request,
        "notifications/settings.html",
        {
            "page_title": Message("Notification settings", context="page title"),
            "crumbs": [
                (
                    Message("Notifications", context="navigation"),
                    f"/{request.org.slug}/notifications",
                )
            ],
            "settings": now,
            "kinds": [
                (kind, now["kinds"][kind.name]) for kind in KINDS if kind.name in now["kinds"]
            ],
            "paces": [
                (Preference.Pace.NOW, Message("At once", context="text, notifications")),
                (Preference.Pace.HOURLY, Message("Every hour, in one email")),
                (Preference.Pace.DAILY, Message("Once a day, in one email")),
            ],
            "languages": settings.LANGUAGES,
            "can_mail": can_mail(),
            "channels": [row for row in visible_channels(actor) if row.user_id == actor.user_id],
        },
    )


@csrf_exempt  # mail programs post with one click; the signature in the address is the permission
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Ask, and with POST end mail of the kinds in the link. Needs no sign-in (RFC 8058)."""
    found = read_unsubscribe(token)
    user = User.objects.filter(id=found[0]).first() if found else None
    if found is None or user is None or not found[1]:
        raise NotFound(Message("This link is not valid. Open the settings to unsubscribe."))
    is_all = request.POST.get("what") == "all"
    kinds = list(BY_NAME) if is_all else found[1]
    if request.method == "POST":
        turn_off_mail(user.id, user.email, kinds)
    return render(
        request,
        "notifications/unsubscribe.html",
        {
            "page_title": Message("Unsubscribe", context="page title"),
            "email": user.email,
            "titles": [translated(BY_NAME[kind].title) for kind in found[1]],
            "is_done": request.method == "POST",
            "is_all": is_all,
        },
    )


def _mark(request: Any, here: str) -> HttpResponse:
    ids = [pk for text in request.POST.getlist("id") if (pk := _uuid(text))]
    do = request.POST.get("do", "")
    acts: dict[str, Any] = {
        "read": lambda: inbox.mark(request.actor, ids),
        "unread": lambda: inbox.mark(request.actor, ids, is_read=False),
        "read-all": lambda: inbox.mark(request.actor, None),
    }
    if do not in acts:
        raise InvalidInput.at(
            "do",
            Message("must be one of {names}", context="error of a field", names=", ".join(acts)),
        )
    back = local_path(request.POST.get("back", ""), here)
    acts[do]()
    return redirect(back)


def _given(request: Any) -> dict[str, Any]:
    """Return the settings of the form, in which a box that is not ticked is left out."""
    form = request.POST
    shown = [k.name for k in KINDS if request.actor.is_operator or not k.operators_only]
    kinds = {name: {way: f"{name}.{way}" in form for way in ("in_app", "email")} for name in shown}
    if not can_mail():
        kinds = {name: {"in_app": ways["in_app"]} for name, ways in kinds.items()}
    quiet = "quiet" in form
    given: dict[str, Any] = {
        "kinds": kinds,
        "quiet_from": form.get("quiet_from", "") if quiet else None,
        "quiet_until": form.get("quiet_until", "") if quiet else None,
    }
    for name in ("pace", "daily_at", "time_zone", "language"):
        if form.get(name):
            given[name] = form[name]
    return given


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
