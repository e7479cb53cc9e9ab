"""Pages: sessions, a new session, and a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from clusters.models import Cluster
from datasets.folders.selectors import visible_folders
from datasets.selectors import visible_repositories
from jobs.ports.access import may_run_in
from jobs.scheduling.placement import gpu_offers
from jobs.services.change import may_change
from jobs.web.reading import facts_of_log, last_lines
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.models import Event
from portal.web.form_errors import FormErrors
from schedulers.states import State
from sessions import services
from sessions.choices import choices_of
from sessions.homes import has_home, home_of, name_of_home
from sessions.lists import SESSIONS
from sessions.readiness import ask_app
from sessions.representations import detail_of, open_path, template_row, terminal_path
from sessions.selectors import attempt_of, find_session, teams_to_start_in
from sessions.sharing import TEAM, WRITE, names_to_share_with, share_session, unshare_session
from sessions.templates import JUPYTER, find_template, templates
from workspaces.access.permissions import Permission as P
from workspaces.audit.event_links import event_lines
from workspaces.models import Team
from workspaces.web.base import action, page

CRUMB = Message("Sessions", context="navigation, interactive sessions")
MOST_NAMES = 100  # that a field suggests
_ACTIVE = ("queued", "starting", "stopping")
# Events of the job that the page tells, beside those of the session
_TOLD = (
    *("job.port_opened", "job.failed", "job.succeeded", "job.extended"),
    *("job.idle_warned", "job.idle_kept", "job.idle_ended", "job.idle_stopped"),
)


@page()
def sessions(request: Any) -> HttpResponse:
    """List the sessions."""
    may_start = teams_to_start_in(request.actor).exists()
    context = {"page_title": CRUMB, "may_start": may_start, "templates": _cards()}
    return SESSIONS.render(request, "sessions/sessions.html", context)


def _cards() -> list[Any]:
    return [template_row(one) for one in templates()]


@page(None, ("GET", "HEAD", "POST"))
def new_session(request: Any) -> HttpResponse:
    """Show the form of a new session, and start it. `?from=12` begins with the choices of
    another, `&image=` with another image."""
    teams = list(teams_to_start_in(request.actor))
    if request.method == "POST":
        with FormErrors(request):
            team = next((one for one in teams if one.slug == request.POST.get("team")), None)
            if team is None:
                raise InvalidInput.at("team", Message("choose one", context="error of a field"))
            choices = choices_of(request.POST.dict())
            made = services.start_session(actor=request.actor, team=team, choices=choices)
            return redirect("session", request.org.slug, made.number)
    given = _given(request)
    team = next((one for one in teams if one.slug == given.get("team")), None) or (
        teams[0] if teams else None
    )
    return render(
        request,
        "sessions/new.html",
        {
            "page_title": Message("New session", context="page title"),
            "crumbs": [(CRUMB, reverse("sessions", args=[request.org.slug]))],
            "templates": _cards(),
            "given": given,
            "teams": teams,
            "team": team,
            "has_cluster": Cluster.objects.filter(is_enabled=True).exists(),
            "may_connect": request.actor.may(P.CLUSTERS_WRITE),
            "may_submit": bool(teams),
            **_offers(request, team),
        },
    )


def _given(request: Any) -> dict[str, str]:
    """Return what the form begins with: what was sent, another session, or the address."""
    if request.method == "POST":
        return {**choices_of(request.POST.dict()).as_dict(), "team": request.POST.get("team", "")}
    if former := request.GET.get("from", ""):
        session = find_session(request.actor, former)
        name = {"name": session.name}
        image = {"image": text} if (text := request.GET.get("image", "")) else {}
        return {**name, **session.choices, **image, "team": session.team.slug}
    given = choices_of(request.GET.dict()).as_dict()
    if find_template(given.get("template", "")) is None:
        given["template"] = JUPYTER.name
    return {**given, "team": request.GET.get("team", "")}


def _offers(request: Any, team: Team | None) -> dict[str, Any]:
    """Return what the fields suggest."""
    if team is None:
        return {}
    data = [
        *visible_repositories(request.actor, "dataset").values_list("name", flat=True)[:MOST_NAMES],
        *(
            f"checkpoint:{name}"
            for name in visible_repositories(request.actor, "checkpoint").values_list(
                "name", flat=True
            )[:MOST_NAMES]
        ),
    ]
    at_home = has_home(request.actor, team)
    home = home_of(request.actor, team) if at_home else None
    folders = visible_folders(request.actor).order_by("name")
    if home:
        folders = folders.exclude(id=home.id)
    return {
        "home": name_of_home(request.actor, team) if at_home else "",
        "gpus": gpu_offers(team, has_ports=True),
        "data": data,
        "folders": list(folders.values_list("name", flat=True)[:MOST_NAMES]),
    }


@page()
def session(request: Any, which: str) -> HttpResponse:
    """Show a session: what happens, its app, its log and its details."""
    row = find_session(request.actor, which)
    if which != str(row.number):
        return redirect("session", request.org.slug, row.number)
    ask_app(row, request)
    shown, attempt = detail_of(row, request.actor), attempt_of(row)
    org = request.org.slug
    has_shell = may_run_in(request.actor, row.job)
    told = Q(subject_id=row.id) | Q(subject_id=row.job_id, kind__in=_TOLD)
    events = Event.objects.filter(told).order_by("-position")
    return render(
        request,
        "sessions/session.html",
        {
            "page_title": row.name,
            "crumbs": [(CRUMB, reverse("sessions", args=[org]))],
            "session": shown,
            "job": shown["job"],
            "attempt": attempt,
            "open_path": open_path(org, row.number),
            "has_shell": has_shell,
            "terminal_path": terminal_path(org, row) if has_shell else "",
            "may_change": may_change(request.actor, row.job),
            "may_start": request.actor.may(P.JOBS_SUBMIT, row.team_id),
            "names": names_to_share_with(row) if shown["may_share"] else [],
            "is_final": State(row.job.state).is_final,
            "is_changing": shown["state"] in _ACTIVE,
            "tail": last_lines(attempt) if attempt else [],
            "log": facts_of_log(attempt) if attempt else {},
            "steps": _steps(shown["state"]),
            "event_lines": event_lines(list(events[:50]), row.org),
        },
    )


_STEPS = (
    ("queued", Message("Queued", context="phase of a session")),
    ("starting", Message("Starting", context="phase of a session")),
    ("ready", Message("Ready", context="phase of a session")),
)


def _steps(state: str) -> list[dict[str, Any]]:
    """Return the way of a session to its app: what is over, now and to come; none at its end."""
    keys = [key for key, _ in _STEPS]
    if state not in keys[:-1]:
        return []
    at = keys.index(state)
    return [
        {
            "mark": "is-past" if n < at else key if n == at else "queued",
            "label": label,
            "is_over": n < at,
            "is_now": n == at,
        }
        for n, (key, label) in enumerate(_STEPS)
    ]


@page(None, ("POST",))
def act_on_session(request: Any, which: str, act: str) -> HttpResponse:
    """Stop a session, start it again, give it more time, keep it although it is idle, or share it."""
    row = find_session(request.actor, which)
    hours = request.POST.get("hours", "2")
    who, access = request.POST.get("who", "").strip(), request.POST.get("access", WRITE)
    name = row.team.name if who == TEAM else who[:254]
    acts: dict[str, tuple[Callable[..., Any], Message]] = {
        "share": (
            partial(share_session, who=who, access=access),
            Message("The session is shared with {name}.", name=name),
        ),
        "unshare": (
            partial(unshare_session, who=who),
            Message("The session is no longer shared with {name}.", name=name),
        ),
        "extend": (
            partial(services.extend_session, by=f"{hours[:5]}h"),
            Message("The session {name} has {n} more hours.", name=row.name, n=hours[:5]),
        ),
        "keep": (
            partial(services.keep_session, hours=hours),
            Message("{name} is kept for {n} hours.", name=row.name, n=hours[:5]),
        ),
        "resume": (
            services.resume_session,
            Message("You started the session {name} again.", name=row.name),
        ),
        "restart": (
            services.restart_session,
            Message("You restarted the session {name}.", name=row.name),
        ),
        "stop": (
            services.stop_session,
            Message("You stopped the session {name}.", name=row.name),
        ),
    }
    do, done = acts[act]
    back = reverse("session", args=[request.org.slug, row.number])
    return action(request, back, done, lambda: do(actor=request.actor, session=row))
