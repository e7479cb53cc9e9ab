"""Represent sessions as JSON, for the API, the pages and the CLI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, TypedDict

from django.conf import settings
from django.db.models import Max
from django.urls import reverse

from jobs.models import Attempt, Job, PortActivity
from jobs.scheduling.advice import ExpectedStartShape
from jobs.scheduling.expected_start import expected_start_of
from jobs.scheduling.pending_explanation import explanation_of
from jobs.selectors.representations import JobShape, ReasonShape, job_rows
from jobs.services import can_extend, check_draft
from jobs.services.change import may_change
from jobs.specs.stored import spec_of
from jobs.web.reading import last_lines
from portal.core import clock
from portal.core.formatting import span_text
from portal.core.messages import Message
from portal.core.shapes import Id, PersonShape, Time
from schedulers.exit_reasons import missing_program
from schedulers.states import State
from sessions.clock import IdleClockShape, clock_of
from sessions.models import InteractiveSession
from sessions.selectors import attempt_of, is_of_earlier_version, state_of
from sessions.sharing import SessionPersonShape, access_of, may_share, people_of
from sessions.templates import (
    HOME,
    NOT_FOUND,
    PORT,
    SSH_PORT,
    TERMINAL,
    SessionTemplate,
    find_template,
    title_of,
)
from workspaces.access.actors import Actor

_LATE = timedelta(minutes=2)  # after which an app that runs should have answered


class SessionTemplateShape(TypedDict):
    name: str
    title: str
    about: str
    version: int
    images: Annotated[list[str], "Examples that have the program."]
    cpus: Annotated[float, "In cores, by default."]
    memory: Annotated[str, "By default."]
    time_limit: Annotated[str, "By default."]
    needs_command: bool


class InteractiveSessionShape(TypedDict):
    id: Id
    number: int
    name: str
    team: str
    team_name: str
    owner: PersonShape
    template: str
    template_title: str
    template_version: int
    state: Annotated[str, "State of a session."]
    job: JobShape
    created_at: Time
    last_used_at: Annotated[Time | None, "The last request to the app, or byte of a websocket."]
    page: str
    url: Annotated[str, "The app, for browsers: it asks to sign in."]
    may_open: Annotated[bool, "You may open the app."]
    access: Annotated[str, "How you may open it: write, read (to look at only), or empty."]


class SessionProgressShape(TypedDict):
    text: Annotated[str, "One sentence: what it waits for, or what happens."]
    expected: Annotated[ExpectedStartShape | None, "null unless it waits."]


class SessionProblemShape(TypedDict):
    text: Annotated[str, "Why it failed."]
    fix: Annotated[str, "What to do; empty if nothing helps for sure."]
    image: Annotated[str, "An image with which it would start; empty if none is known."]
    reason: ReasonShape | None


class InteractiveSessionDetailShape(InteractiveSessionShape):
    choices: dict[str, str]
    time_limit: str
    ends_at: Annotated[Time | None, "When its time limit ends; null unless it runs."]
    can_extend: Annotated[bool, "Its time limit can be raised now, on this cluster."]
    image: str
    people: Annotated[
        list[SessionPersonShape], "The owner, those it is shared with, and who else is in it now."
    ]
    may_share: bool
    can_be_read: Annotated[bool, "It can be shared to look at only."]
    idle: Annotated[IdleClockShape | None, "null unless it runs and an idle rule applies."]
    home: Annotated[str, "The workspace that is its HOME; empty if it has none."]
    progress: SessionProgressShape | None
    problem: SessionProblemShape | None


def template_row(one: SessionTemplate) -> SessionTemplateShape:
    return {
        "name": one.name,
        "title": one.title,
        "about": one.about,
        "version": one.version,
        "images": list(one.images),
        "cpus": one.cpus,
        "memory": one.memory,
        "time_limit": one.time_limit,
        "needs_command": one.has_command,
    }


def session_rows(
    sessions: Sequence[InteractiveSession], actor: Actor
) -> list[InteractiveSessionShape]:
    """Return list items, in a fixed number of queries."""
    jobs = job_rows([one.job for one in sessions])
    used: dict[Any, Any] = dict(
        PortActivity.objects.filter(
            attempt__in=Attempt.objects.filter(
                job__in=[one.job_id for one in sessions], is_current=True
            )
        )
        .order_by()
        .values_list("attempt__job_id")
        .annotate(Max("last_used_at"))
    )
    return [
        _row(one, job, used.get(one.job_id), access_of(one, actor))
        for one, job in zip(sessions, jobs, strict=True)
    ]


def session_row(session: InteractiveSession, actor: Actor) -> InteractiveSessionShape:
    return session_rows([session], actor)[0]


def _row(
    session: InteractiveSession, job: JobShape, used: Any, access: str
) -> InteractiveSessionShape:
    org = session.org.slug
    return {
        "id": str(session.id),
        "number": session.number,
        "name": session.name,
        "team": session.team.slug,
        "team_name": session.team.name,
        "owner": {"email": session.owner.email, "name": session.owner.display_name},
        "template": session.template,
        "template_title": title_of(session.template),
        "template_version": session.template_version,
        "state": state_of(session),
        "job": job,
        "created_at": session.created_at,
        "last_used_at": used,
        "page": reverse("session", args=[org, session.number]),
        "url": settings.MUSTER_BASE_URL + open_path(org, session.number),
        "may_open": bool(access),
        "access": access,
    }


def terminal_path(org: str, session: InteractiveSession) -> str:
    """Return where a browser opens a terminal beside the app; "" if there is none."""
    job = session.job
    has_shell = any(one.name == SSH_PORT for one in spec_of(job).ports)
    if job.state != State.RUNNING or not has_shell or session.template == TERMINAL.name:
        return ""
    return reverse("job-port", args=[org, session.number, SSH_PORT])


def open_path(org: str, number: int) -> str:
    """Return the page of the portal that opens the app of a session in the browser."""
    return reverse("job-port", args=[org, number, PORT])


def detail_of(session: InteractiveSession, viewer: Actor) -> InteractiveSessionDetailShape:
    """Return a session with what happens now, or why it failed."""
    row = session_row(session, viewer)
    spec, template = session.job.spec, find_template(session.template)
    return {
        **row,
        "choices": session.choices,
        "time_limit": str(spec.get("policy", {}).get("max_runtime", "")),
        "ends_at": _ends_at(session.job),
        "can_extend": may_change(viewer, session.job)
        and can_extend(session.job)
        and not is_of_earlier_version(session),
        "image": str(spec.get("image", "")),
        "people": people_of(session),
        "may_share": may_share(viewer, session),
        "can_be_read": bool(template and template.can_be_read),
        "idle": clock_of(session),
        "home": _home(spec),
        "progress": _progress(session, row, viewer),
        "problem": _problem(session, row, viewer),
    }


def _ends_at(job: Job) -> datetime | None:
    limit = spec_of(job).policy.max_runtime
    if State(job.state) is not State.RUNNING or not (limit and job.started_at):
        return None
    return job.started_at + timedelta(seconds=limit)


def _home(spec: Mapping[str, Any]) -> str:
    found = spec.get("workspaces", {}).get(HOME, "")
    return str(found["workspace"] if isinstance(found, dict) else found)


def _progress(
    session: InteractiveSession, row: InteractiveSessionShape, viewer: Actor
) -> SessionProgressShape | None:
    """Return what a session waits for or does, until it has ended."""
    job, state, title = session.job, State(session.job.state), row["template_title"]
    if state.is_final:
        return None
    pending = explanation_of(job, viewer)
    if pending is not None:
        start = None if pending.is_starting else expected_start_of(job)
        return {"text": pending.text, "expected": start.as_dict() if start else None}
    image = str(job.spec.get("image", ""))
    if row["state"] == "queued":
        text = Message("It is next: the cluster is being asked.")
    elif row["state"] == "stopping":
        text = Message("{app} is being stopped.", app=title)
    elif row["state"] == "ready":
        text = Message("{app} is ready.", app=title)
    elif state is State.RUNNING and job.started_at and clock.now() - job.started_at > _LATE:
        text = Message(
            "{app} has not answered for {time}. Look at its log, or restart it.",
            app=title,
            time=span_text(clock.now() - job.started_at),
        )
    elif state is State.RUNNING:
        text = Message("{app} is starting; it does not answer yet.", app=title)
    elif image:
        text = Message("The node gets the image {image} and the data.", image=image)
    else:
        text = Message("The node prepares the folder and the data.")
    return {"text": text, "expected": None}


def _problem(
    session: InteractiveSession, row: InteractiveSessionShape, viewer: Actor
) -> SessionProblemShape | None:
    """Return why a session failed, with one thing to do."""
    if row["state"] != "failed":
        return None
    reason = row["job"]["reason"]
    if missing := _missing_program(session):
        return _not_installed(session, missing, reason, viewer)
    if reason is None:
        return {"text": Message("It failed."), "fix": "", "image": "", "reason": None}
    return {"text": reason["headline"], "fix": reason["advice"], "image": "", "reason": reason}


def _missing_program(session: InteractiveSession) -> str:
    """Return the program that a template has not found, as its script says; "" if it said nothing."""
    attempt = attempt_of(session) if session.job.exit_code == NOT_FOUND else None
    return missing_program("\n".join(last_lines(attempt))) if attempt else ""


def _not_installed(
    session: InteractiveSession, program: str, reason: ReasonShape | None, viewer: Actor
) -> SessionProblemShape:
    job, template = session.job, find_template(session.template)
    if image := str(job.spec.get("image", "")):
        text = Message("The image {image} has no {program}.", image=image, program=program)
    else:
        text = Message("{program} is not installed where the session ran.", program=program)
    known = template.images[0] if template and template.images else ""
    use = known if known != image and known and _may_use(session, known, viewer) else ""
    fix = Message(
        "Choose an image that has it, or install it on the nodes of {cluster}.",
        cluster=job.cluster.name,
    )
    if use:
        fix = Message("Choose an image that has it, such as {image}.", image=use)
    elif template and template.package and not image:
        fix = Message(
            "Install it on the nodes of {cluster}: `pip install {package}`.",
            cluster=job.cluster.name,
            package=template.package,
        )
    return {"text": text, "fix": fix, "image": use, "reason": reason}


def _may_use(session: InteractiveSession, image: str, viewer: Actor) -> bool:
    """Return whether the session would be accepted with an image, as the dry run says."""
    spec = spec_of(session.job).model_copy(update={"image": image})
    found = check_draft(actor=viewer, team=session.team, spec=spec, origin=session.job.origin)
    return found.is_ok
