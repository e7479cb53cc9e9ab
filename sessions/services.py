"""Start and stop sessions."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from jobs.scheduling.placement import gpu_offers
from jobs.services import cancel_job, extend_job, submit_job
from jobs.services.change import authorize_change
from jobs.services.dry_run import DryRun, check_draft
from jobs.specs.stored import spec_of
from jobs.utilization.idle_rules import keep_job
from portal.core import clock, vault
from portal.core.errors import Conflict, InvalidInput, PortalError
from portal.core.events import EventRecord, record
from portal.core.formatting import gpu_text
from portal.core.ids import uuid7
from portal.core.messages import Message
from schedulers.spec import JobSpec
from schedulers.spec.grammar import parse_duration
from schedulers.states import State
from sessions.choices import SessionChoices, at_choices, choices_of, spec_of_choices
from sessions.homes import ensure_home, has_home, home_of, is_full, name_of_home
from sessions.kind import PURPOSE, origin_of, token_of
from sessions.models import InteractiveSession
from sessions.selectors import is_of_earlier_version
from sessions.templates import template_named
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team


def start_session(*, actor: Actor, team: Team, choices: SessionChoices) -> InteractiveSession:
    """Start a session: submit its job. It has the home folder, unless something else was chosen or
    no cluster can mount that. Raises InvalidInput, NotPermitted, QuotaExceeded.
    """
    _check_gpus(team, spec_of_choices(choices))
    try:
        if not choices.workspace and has_home(actor, team):
            try:
                return _start(actor, team, choices, is_at_home=True)
            except InvalidInput:
                if is_full(actor, team):
                    raise
        return _start(actor, team, choices)
    except PortalError as error:
        raise at_choices(error) from error


@transaction.atomic
def _start(
    actor: Actor, team: Team, choices: SessionChoices, *, is_at_home: bool = False
) -> InteractiveSession:
    spec = spec_of_choices(choices, ensure_home(actor, team).name if is_at_home else "")
    session = _new_session(actor, team, choices, spec.name)
    job = submit_job(actor=actor, team=team, spec=spec, origin=origin_of(session))
    session.job, session.number = job, job.number
    session.save(force_insert=True)
    _record("started", actor, session, after={"name": session.name})
    return session


@dataclass(frozen=True)
class SessionCheck:
    """What a start would answer, and the home folder that the session would have, if any."""

    draft: DryRun
    home: str


def check_session(*, actor: Actor, team: Team, choices: SessionChoices) -> SessionCheck:
    """Make the checks of a start without starting anything. Raises InvalidInput at wrong choices."""
    spec = spec_of_choices(choices)
    _check_gpus(team, spec)
    session = _new_session(actor, team, choices, spec.name)

    def check(spec: JobSpec) -> DryRun:
        return check_draft(
            actor=actor, team=team, spec=spec, is_forecast=True, origin=origin_of(session)
        )

    if choices.workspace or not has_home(actor, team):
        return SessionCheck(check(spec), "")
    if (home := home_of(actor, team)) is None:
        return SessionCheck(check(spec), name_of_home(actor, team))
    draft = check(spec_of_choices(choices, home.name))
    if draft.is_ok or is_full(actor, team):
        return SessionCheck(draft, home.name)
    return SessionCheck(check(spec), "")


@transaction.atomic
def resume_session(*, actor: Actor, session: InteractiveSession) -> InteractiveSession:
    """Start a session that has ended once more, with the same spec, as a new job.

    Raises Conflict while it has not ended, NotPermitted, InvalidInput, QuotaExceeded.
    """
    row = _lock(actor, session)
    if not State(row.job.state).is_final:
        raise Conflict(Message("The session {name} has not ended.", name=row.name))
    return _start_again("resumed", actor, row)


@transaction.atomic
def restart_session(*, actor: Actor, session: InteractiveSession) -> InteractiveSession:
    """Stop a session, unless it has ended, and start it again with the same spec, as a new job.

    The new job does not wait for the end of the former, which may take until its grace is over. Raises
    NotPermitted, InvalidInput, QuotaExceeded.
    """
    row = _lock(actor, session)
    if not State(row.job.state).is_final:
        cancel_job(actor=actor, job=row.job, why=Message("The session was restarted."))
    return _start_again("restarted", actor, row)


@transaction.atomic
def stop_session(*, actor: Actor, session: InteractiveSession) -> InteractiveSession:
    """Stop a session: all its processes end. Idempotent. Raises NotPermitted."""
    before = session.job
    session.job = cancel_job(actor=actor, job=before, why=Message("The session was stopped."))
    if session.job.cancel_asked_at and not before.cancel_asked_at:
        state = State(before.state).label
        _record("stopped", actor, session, before={"state": state}, after={"state": "stopping"})
    return session


@transaction.atomic
def show_token(*, actor: Actor, session: InteractiveSession) -> str:
    """Return the token that the app asks for where the gateway does not send it: at a forwarded port.

    Raises NotPermitted, also to whoever may not open the app, and Conflict if it asks for none.
    """
    authorize(actor, Permission.JOBS_EXEC, session.job.team_id)
    if session.job.owner_id != actor.user_id:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, session.job.team_id)
    if not (token := token_of(session)):
        raise Conflict(Message("The app of {name} asks for no token of ours.", name=session.name))
    _record("token_shown", actor, session)
    return token


def _lock(actor: Actor, session: InteractiveSession) -> InteractiveSession:
    row = InteractiveSession.objects.select_for_update(of=("self",)).get(id=session.id)
    authorize_change(actor, row.job, Permission.JOBS_SUBMIT)
    return row


def _start_again(verb: str, actor: Actor, row: InteractiveSession) -> InteractiveSession:
    former, spec = row.job, spec_of(row.job)
    if is_of_earlier_version(row):  # the template has changed since
        spec = spec_of_choices(choices_of(row.choices))
        row.template_version = template_named(row.template).version
    row.job = submit_job(actor=actor, team=former.team, spec=spec, origin=origin_of(row))
    row.save(update_fields=["job", "template_version"])
    _record(verb, actor, row, before={"job": former.number}, after={"job": row.job.number})
    return row


def extend_session(*, actor: Actor, session: InteractiveSession, by: str) -> InteractiveSession:
    """Give a session more time, such as "2h". Raises InvalidInput, NotPermitted, QuotaExceeded,
    Conflict, Unavailable.
    """
    if State(session.job.state) is State.RUNNING and is_of_earlier_version(session):
        raise Conflict(
            Message(
                "The session was started by an earlier version of Muster. Start it again first."
            )
        )
    try:
        seconds = parse_duration(by)
    except ValueError as error:
        raise InvalidInput.at("by", str(error)) from error
    extend_job(actor=actor, job=session.job, seconds=seconds)
    return session


def keep_session(*, actor: Actor, session: InteractiveSession, hours: Any) -> InteractiveSession:
    """Keep a session from the idle rule of its pool. Raises InvalidInput, NotPermitted, Conflict."""
    try:
        keep_job(actor=actor, job=session.job, hours=float(hours))
    except ValueError:
        raise InvalidInput.at("hours", Message("must be a number")) from None
    return session


def _check_gpus(team: Team, spec: JobSpec) -> None:
    """Raise InvalidInput at the GPU if no cluster that can open web apps has it."""
    wanted = spec.resources.gpu_type
    if not spec.resources.gpus:
        return
    offered = [one["type"] for one in gpu_offers(team, has_ports=True)]
    every = [one["type"] for one in gpu_offers(team)]
    if not every or (wanted in offered if wanted else offered):
        return
    kind = gpu_text(wanted) if wanted else ""
    other = ", ".join(map(gpu_text, offered))
    if wanted and wanted not in every:
        text = Message("No cluster that the team may use has {kind} GPUs.", kind=kind)
    elif wanted and other:
        text = Message(
            "The clusters with {kind} GPUs can't open web apps. Ask an operator, or choose {other}.",
            kind=kind,
            other=other,
        )
    elif wanted:
        text = Message(
            "The clusters with {kind} GPUs can't open web apps. Ask an operator, or choose no GPU.",
            kind=kind,
        )
    else:
        text = Message(
            "The clusters with GPUs can't open web apps. Ask an operator, or choose no GPU."
        )
    raise InvalidInput.at("gpus", text)


def _new_session(
    actor: Actor, team: Team, choices: SessionChoices, name: str
) -> InteractiveSession:
    return InteractiveSession(
        id=uuid7(),
        org_id=team.org_id,
        team=team,
        owner_id=actor.user_id,  # type: ignore[misc]  # a person or a service account
        name=name,
        template=choices.template,
        template_version=template_named(choices.template).version,
        choices=choices.as_dict(),
        secret=vault.encrypt(secrets.token_urlsafe(32).encode(), PURPOSE),
        created_at=clock.now(),
    )


def _record(verb: str, actor: Actor, session: InteractiveSession, **data: Any) -> None:
    about = {"number": session.number, "template": session.template, **data}
    record(
        EventRecord(
            f"interactive.{verb}", session.org_id, "interactive", session.id, actor.email, about
        )
    )
