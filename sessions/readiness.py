"""Ask an app through the gateway whether it answers, as the person who looks."""

from __future__ import annotations

from typing import Any

import httpx
from django.conf import settings

from jobs.ports import handover
from portal.gateway import routes
from portal.gateway.provider import Address
from schedulers.states import State
from sessions.models import InteractiveSession
from sessions.templates import PORT, find_template

SECONDS = 1.5
_ANSWERED = 400  # statuses below say that it is ready


def ask_app(session: InteractiveSession, request: Any) -> None:
    """Set `is_answering` of a session whose app has not answered yet.

    `request` is Django's: its session or token is what the gateway judges. The first answer is kept as
    activity of the port (`jobs.ports`), so the app is asked only until then.
    """
    template = find_template(session.template)
    is_waiting = State(session.job.state) is State.RUNNING and not session.is_answering  # type: ignore[attr-defined]
    if not is_waiting or template is None:
        return
    address = Address(session.org.slug, session.number, PORT)
    url, headers = f"{settings.MUSTER_GATEWAY_URL}{routes.path(address)}", {}
    if token := request.headers.get("Authorization"):
        headers["Authorization"] = token
    elif key := getattr(request.session, "session_key", None):
        url += f"/~{handover.make_ticket(key, address)}"
    try:
        with httpx.stream("GET", url + template.ready, headers=headers, timeout=SECONDS) as answer:
            status = answer.status_code  # its body may have no end
    except httpx.HTTPError:
        return
    session.is_answering = status < _ANSWERED  # type: ignore[attr-defined]
