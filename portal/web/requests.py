"""The outermost layer: a request id and the client's address for every request, and errors in the caller's dialect."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse

from portal.core.errors import InvalidInput, PortalError
from portal.core.events import Caller, caller, clean_address, request_id
from portal.core.outage import outage
from portal.web.errors import answer, malformed

log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9._-]{8,36}\Z")
CSP = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; object-src 'none';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class RequestMiddleware:
    """Takes X-Request-ID when it is well-formed, else makes one; turns PortalError into a page or problem+json."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        token = request_id.set(given if _ID.match(given) else str(uuid.uuid4()))
        who = caller.set(Caller(clean_address(request.META.get("REMOTE_ADDR", ""))))
        try:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id.get()
            response.headers.setdefault("Content-Security-Policy", CSP)
            response.headers.setdefault(
                "Cache-Control", "no-store"
            )  # files of ours say how long they may be kept
            return response
        finally:
            caller.reset(who)
            request_id.reset(token)


class ErrorMiddleware:
    """What views raise becomes an answer. (Doors answer for themselves: Django shows only views' errors to middleware.)"""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return answer(
                request, InvalidInput("The address holds a NUL character, which no name here has.")
            )
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Django hands over what a view raised; PortalErrors are ours, the rest stays with Django."""
        if isinstance(error, PortalError):
            return answer(request, error)
        if away := outage(error):
            log.error("request %s: %s", request_id.get(), error)
            return answer(request, away)
        if isinstance(error, SuspiciousOperation):
            return answer(request, malformed(error)) if request.path.startswith("/api/") else None
        if request.path.startswith("/api/"):
            log.exception("internal error %s", request_id.get())
            return answer(
                request,
                PortalError("Something broke on our side. Quote the request id to your operator."),
            )
        return None
