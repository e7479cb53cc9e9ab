"""Send a browser from the portal to an app in a job."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from jobs.ports import addresses, handover
from jobs.ports.access import find_port, record_opened
from portal.core.errors import NotAuthenticated
from portal.core.messages import Message
from portal.gateway.provider import Address
from workspaces.web.base import page


@page()
def open_port(request: Any, job: str, name: str) -> HttpResponse:
    """Send a browser to an app. If it came from there, with a code that lets it in."""
    task = request.GET.get("task", "0")
    address = Address(
        request.org.slug, _number(job), name[:15], int(task) if task.isdecimal() else 0
    )
    found = find_port(request.actor, address)
    nonce, session = request.GET.get("nonce", ""), request.session.session_key
    if not nonce:
        return redirect(addresses.page_of(address))
    if not session:
        raise NotAuthenticated(Message("Sign in with a browser to open this app."))
    record_opened(found.job, found.attempt.index, found.port.name, request.actor.email)
    code = handover.make_code(
        session=session, address=address, nonce=nonce, path=_path(request.GET.get("path", ""))
    )
    answer = redirect(addresses.code_url(address, code))
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _number(job: str) -> int:
    return int(job) if job.isdecimal() and len(job) < 11 else 0


def _path(text: str) -> str:
    """Return a path of the app to open; it follows the host in an address."""
    return text if text.startswith("/") and text.isascii() and text.isprintable() else "/"
