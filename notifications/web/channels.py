"""Pages: channels of oneself and of teams that one leads, with their log."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from notifications.kinds import KINDS
from notifications.models import Channel
from notifications.services import channels as service
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.recipients import NoticeKind
from workspaces.web.base import action, page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure

TYPES = (
    (Channel.Kind.SLACK, "Slack", Message("Incoming webhook of a Slack app")),
    (Channel.Kind.TEAMS, "Microsoft Teams", Message("Workflow that posts to a channel")),
    (Channel.Kind.WEBHOOK, "Webhook", Message("Signed JSON for a program of yours")),
)


@page(None, ("GET", "HEAD", "POST"))
def notification_channels(request: Any) -> HttpResponse:
    """List channels; add one."""
    made: tuple[Channel, str] | None = None
    if request.method == "POST" and not is_resubmitted(request):
        with FormErrors(request), release_on_failure(request):
            made = _make(request)
            if request.POST.get("test"):
                service.send_test(actor=request.actor, channel=made[0])
            if not made[1]:
                messages.success(request, Message("{name} was added.", name=made[0].name))
                return redirect(_path(request, made[0]))
    rows = list(service.visible_channels(request.actor))
    teams = [t for t in Team.objects.order_by("name") if request.actor.may(P.JOBS_ADMIN, t.id)]
    return render(
        request,
        "notifications/channels.html",
        {
            "page_title": Message("Notification channels", context="page title"),
            "crumbs": _crumbs(request)[:1],
            "mine": [row for row in rows if row.user_id],
            "of_teams": [row for row in rows if row.team_id],
            "made": made,
            "teams": teams,
            "types": TYPES,
            "kinds": [kind for kind in KINDS if _is_offered(request, kind, for_team=False)],
            "default_kinds": service.DEFAULT_KINDS,
            "of": request.GET.get("of", ""),
        },
    )


@page(None, ("GET", "HEAD", "POST"))
def notification_channel(request: Any, channel: UUID) -> HttpResponse:
    """Show a channel and its log; change, test or delete it; send a message again."""
    row = service.find_channel(request.actor, channel)
    if request.method == "POST":
        return _act(request, row)
    return render(
        request,
        "notifications/channel.html",
        {
            "page_title": row.name,
            "crumbs": _crumbs(request),
            "channel": row,
            "type": next(title for kind, title, _ in TYPES if kind == row.kind),
            "kinds": [
                k for k in KINDS if _is_offered(request, k, for_team=row.team_id is not None)
            ],
            "deliveries": service.deliveries_of(request.actor, row),
        },
    )


def _make(request: Any) -> tuple[Channel, str]:
    form, team = request.POST, None
    if slug := form.get("team", ""):
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            raise NotFound(Message("There is no such team."))
    kinds = form.getlist("kinds")
    if team is not None:
        kinds = [kind.name for kind in KINDS if kind.name in kinds and kind.for_team]
    return service.create_channel(
        actor=request.actor,
        org=request.org,
        kind=form.get("kind", ""),
        url=form.get("url", ""),
        name=form.get("name", ""),
        team=team,
        kinds=kinds,
    )


def _act(request: Any, row: Channel) -> HttpResponse:
    form, actor, here = request.POST, request.actor, _path(request, row)
    listed = f"/{request.org.slug}/notification-channels"

    def save() -> None:
        service.change_channel(
            actor=actor,
            channel=row,
            name=form.get("name", ""),
            url=form.get("url") or None,
            kinds=form.getlist("kinds"),
        )

    def enable(is_enabled: bool) -> None:
        service.change_channel(actor=actor, channel=row, is_enabled=is_enabled)

    acts: dict[str, tuple[str, Any, Message]] = {
        "save": (here, save, Message("{name} was saved.", name=form.get("name", ""))),
        "test": (
            here,
            lambda: service.send_test(actor=actor, channel=row),
            Message("A test is on its way. Its result appears in the log below."),
        ),
        "enable": (here, lambda: enable(True), Message("{name} is enabled.", name=row.name)),
        "disable": (here, lambda: enable(False), Message("{name} is disabled.", name=row.name)),
        "delete": (
            listed,
            lambda: service.delete_channel(actor=actor, channel=row),
            Message("{name} was deleted.", name=row.name),
        ),
        "redeliver": (
            here,
            lambda: service.redeliver(
                actor=actor, channel=row, delivery_id=_uuid(form.get("delivery", ""))
            ),
            Message("The message is sent again."),
        ),
    }
    if (chosen := acts.get(form.get("do", ""))) is None:
        raise InvalidInput.at(
            "do",
            Message("must be one of {names}", context="error of a field", names=", ".join(acts)),
        )
    back, act, done = chosen
    return action(request, back, done, act, refused=here)


def _is_offered(request: Any, kind: NoticeKind, *, for_team: bool) -> bool:
    return kind.for_team if for_team else request.actor.is_operator or not kind.operators_only


def _path(request: Any, row: Channel) -> str:
    return f"/{request.org.slug}/notification-channels/{row.id}"


def _crumbs(request: Any) -> list[tuple[Message, str]]:
    slug = request.org.slug
    return [
        (Message("Notifications", context="navigation"), f"/{slug}/notifications"),
        (Message("Notification channels", context="navigation"), f"/{slug}/notification-channels"),
    ]


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(Message("There is no such delivery.")) from None
