"""Ask apps whether they compute, for the clock of the idle rule (`jobs.utilization.interactive`).

A task asks each minute, through the gateway, with a ticket of the portal's own. JupyterLab tells the state
of its kernels and when a terminal last printed something, our terminal which programs use the CPU. Others
tell nothing.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import httpx
from django.conf import settings

from jobs.models import Attempt, IdleRule, PortActivity
from jobs.ports import handover
from jobs.ports.activity import record_answer
from portal.core import clock
from portal.gateway import routes
from portal.gateway.provider import Address
from schedulers.states import State
from sessions.models import InteractiveSession
from sessions.templates import JUPYTER, PORT, TERMINAL
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
SECONDS, ALL_SECONDS = 5.0, 10.0  # for a part of an answer, and for all of it
MOST = 256 << 10  # bytes of an answer
AT_ONCE = 8
Get = Callable[[str], Any]


def _of_jupyter(get: Get) -> datetime | None:
    """Return now if a kernel is busy. Raises LookupError if a terminal is open, where anything may compute."""
    if any(kernel.get("execution_state") == "busy" for kernel in get("/api/kernels")):
        return clock.now()
    if get("/api/terminals"):
        raise LookupError("a terminal is open, and does not say whether something computes in it")
    return None


def _of_terminal(get: Get) -> datetime | None:
    return clock.now() if get("/status").get("busy") else None


_QUESTIONS: dict[str, Callable[[Get], datetime | None]] = {
    JUPYTER.name: _of_jupyter,
    TERMINAL.name: _of_terminal,
}


def ask_apps() -> None:
    """Ask the apps of all running sessions to which an idle rule applies. What fails is unknown."""
    pools = IdleRule.objects.filter(is_enabled=True).values("pool")
    with platform_scope("sessions of every organization are asked whether they compute"):
        sessions = InteractiveSession.objects.select_related("org", "job").filter(
            job__state=State.RUNNING, job__pool__in=pools, template__in=list(_QUESTIONS)
        )
        attempts = {
            one.job_id: one
            for one in Attempt.objects.filter(
                job__in=[one.job_id for one in sessions], is_current=True, state=State.RUNNING
            )
        }
        # Programs of SSH, of which JupyterLab knows nothing, may compute once a second port was used
        ports = Counter(
            PortActivity.objects.filter(attempt__in=list(attempts.values())).values_list(
                "attempt__job", flat=True
            )
        )
        asked = [
            one
            for one in sessions
            if one.job_id in attempts and (one.template != JUPYTER.name or ports[one.job_id] < 2)
        ]
        for session, answer in _answers(asked):
            if not isinstance(answer, Exception):
                record_answer(attempts[session.job_id], answer)
            else:
                log.info("session %s did not say whether it computes: %r", session.number, answer)


def new_client() -> httpx.Client:
    return httpx.Client(timeout=SECONDS, trust_env=False)


def _answers(
    sessions: Iterable[InteractiveSession],
) -> Iterable[tuple[InteractiveSession, datetime | Exception | None]]:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(_answer, sessions)


def _answer(
    session: InteractiveSession,
) -> tuple[InteractiveSession, datetime | Exception | None]:
    address = Address(session.org.slug, session.number, PORT)
    ticket = handover.make_own_ticket(address)
    base = f"{settings.MUSTER_GATEWAY_URL}{routes.path(address)}/~{ticket}"
    try:
        with new_client() as client:

            def get(path: str) -> Any:
                return _read(client, base + path)

            return session, _QUESTIONS[session.template](get)
    except Exception as error:  # an app may answer anything
        return session, error


def _read(client: httpx.Client, url: str) -> Any:
    """Return the JSON of an app, which may send anything, without end and as slowly as it likes."""
    data, until = bytearray(), time.monotonic() + ALL_SECONDS
    with client.stream("GET", url) as answer:
        answer.raise_for_status()
        for part in answer.iter_bytes():
            data += part
            if len(data) > MOST or time.monotonic() > until:
                raise ValueError("the answer is too long")
    return json.loads(data)


def says_whether_it_computes(template: str) -> bool:
    return template in _QUESTIONS
