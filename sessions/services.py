"""Start and stop sessions."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import transaction

from jobs.scheduling.placement import gpu_offers
from jobs.services import cancel_job, submit_job
from jobs.services.change import authorize_change
from jobs.services.dry_run import DryRun, check_draft
from jobs.specs.stored import spec_of
from portal.core import clock, vault
from portal.core.errors import Conflict, InvalidInput, PortalError
from portal.core.events import EventRecord, record
from portal.core.formatting import gpu_text
from portal.core.ids import uuid7
from portal.core.messages import Message
from schedulers.spec import JobSpec
from schedulers.states import State
from sessions.choices import SessionChoices, at_choices, spec_of_choices
from sessions.kind import PURPOSE, origin_of, token_of
from sessions.models import InteractiveSession
from sessions.templates import template_named
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team


def start_session(*, actor: Actor, team: Team, choices: SessionChoices) -> InteractiveSession:
    """Start a session: submit its job. Raises InvalidInput, NotPermitted, QuotaExceeded."""
    spec = spec_of_choices(choices)
    _check_gpus(team, spec)
    session = _new_session(actor, team, choices, spec.name)
    try:
        with transaction.atomic():
            job = submit_job(actor=actor, team=team, spec=spec, origin=origin_of(session))
            session.job, session.number = job, job.number
            session.save(force_insert=True)
            _record("started", actor, session, after={"name": session.name})
    except PortalError as error:
        raise at_choices(error) from error
    return session


def check_session(*, actor: Actor, team: Team, choices: SessionChoices) -> DryRun:
    """Make the checks of a start without starting anything. Raises InvalidInput at wrong choices."""
    spec = spec_of_choices(choices)
    _check_gpus(team, spec)
    session = _new_session(actor, team, choices, spec.name)
    return check_draft(
        actor=actor, team=team, spec=spec, is_forecast=True, origin=origin_of(session)
    )


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
    former = row.job
    row.job = submit_job(actor=actor, team=former.team, spec=spec_of(former), origin=origin_of(row))
    row.save(update_fields=["job"])
    _record(verb, actor, row, before={"job": former.number}, after={"job": row.job.number})
    return row


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
