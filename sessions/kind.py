"""How jobs treat sessions: their kind, their origin, and the secret of their app."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from django.urls import reverse

from jobs.kinds.origins import Origin, OriginKind
from jobs.kinds.workload_kinds import WorkloadKind
from jobs.models import Job
from jobs.ports.terminal import terminal_page
from portal.core import vault
from portal.core.messages import Message
from schedulers.contract import Launch
from schedulers.programs import CURVES, GUARD, TERMINAL, TERMINAL_PAGE, source_of
from sessions import templates
from sessions.choices import KIND, is_on_socket
from sessions.models import InteractiveSession
from sessions.selectors import visible_sessions
from sessions.sharing import share_of_job
from workspaces.access.actors import Actor

PURPOSE = InteractiveSession.SEALED["secret"]
TOKEN_FILE = "MUSTER_APP_TOKEN"  # noqa: S105  a secret file of the job
_PROGRAMS = {
    templates.TERMINAL.name: TERMINAL,
    templates.VSCODE.name: GUARD,
    templates.TENSORBOARD.name: CURVES,
}


def origin_of(session: InteractiveSession) -> Origin:
    return Origin(KIND, session.id, session.name)


def _with_programs(launch: Launch, job: Job) -> Launch:
    """Add the session's secret as a file, and our own program where the template needs one."""
    session = _session_of(job)
    if session is None:
        return launch
    programs = dict(launch.data.programs)
    if program := GUARD if _is_on_socket(session) else _PROGRAMS.get(session.template):
        programs[program] = source_of(program)
    if session.template == templates.TERMINAL.name:
        page = reverse("session", args=[session.org.slug, session.number])
        programs[TERMINAL_PAGE] = terminal_page(session.name, page)
    files = {**launch.data.secret_files, TOKEN_FILE: _secret(session)}
    return replace(launch, data=replace(launch.data, secret_files=files, programs=programs))


def _authorization(job: Job) -> str:
    session = _session_of(job)
    token = token_of(session) if session else ""
    return f"token {token}" if token else ""


def token_of(session: InteractiveSession) -> str:
    """Return what the app asks for; "" if it asks for nothing of ours."""
    template = templates.find_template(session.template)
    has_secret = (template and template.has_secret) or _is_on_socket(session)
    return _secret(session) if has_secret else ""


def _is_on_socket(session: InteractiveSession) -> bool:
    template = templates.find_template(session.template)
    has_command = template is not None and template.has_command
    return has_command and is_on_socket(session.choices.get("command", ""))


def _number(job: Job) -> int:
    session = _session_of(job)
    return session.number if session else job.number


def _session_of(job: Job) -> InteractiveSession | None:
    return InteractiveSession.objects.filter(id=job.origin_id, org_id=job.org_id).first()


def _secret(session: InteractiveSession) -> str:
    return vault.decrypt(bytes(session.secret), PURPOSE).decode()


def _pages(actor: Actor, ids: Collection[UUID]) -> dict[UUID, str]:
    rows = visible_sessions(actor).filter(id__in=ids)
    return {row.id: reverse("session", args=[row.org.slug, row.number]) for row in rows}


SESSION_ORIGIN = OriginKind(KIND, Message("Session", context="origin of a job"), _pages)
SESSION = WorkloadKind(
    KIND,
    Message("Session", context="kind of workload"),
    list_path="sessions",
    origin=KIND,
    with_programs=_with_programs,
    authorization=_authorization,
    share=share_of_job,
    address_number=_number,
    is_interactive=True,
    has_run=False,
    allows_retries=False,
    allows_array=False,
    end_notices={
        "job.failed": Message("The session {name} failed", context="notification"),
    },
    ended=Message("The session has ended."),  # js/terminal.js looks for it
)
