"""The outermost middleware: request ids, client addresses, and errors in the caller's format."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from portal.core.errors import InvalidInput, MethodNotAllowed, PortalError
from portal.core.events import Caller, caller, clean_address, request_id
from portal.core.messages import Message
from portal.core.outage import outage
from portal.core.protocols import BODY, protocol_at
from portal.web.errors import answer, malformed

log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9._-]{8,36}\Z")
CSP = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; object-src 'none';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class RequestMiddleware:
    """Accept a well-formed X-Request-ID or create one; set the caller and the security headers."""

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
            response.headers.setdefault("Cache-Control", "no-store")  # static files set their own
            return response
        finally:
            caller.reset(who)
            request_id.reset(token)


class HeadMiddleware:
    """Undo what a view does of whose request only the head is judged: it is called again.

    It is the last one: the others have authenticated the request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        stream = request.META.get(BODY)
        if stream is None or not stream.is_head:
            return None
        try:
            with transaction.atomic():
                response: HttpResponse = view(request, *args, **kwargs)
                transaction.set_rollback(True)
                return response
        except Exception as error:
            if response_to_error := error_response(request, error):
                return response_to_error
            raise


class ErrorMiddleware:
    """Turn errors raised by views into responses.

    Middleware answers for itself, because Django passes only errors of views to
    `process_exception`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return answer(request, InvalidInput(Message("The URL contains a NUL character.")))
        response = self.get_response(request)
        is_program = protocol_at(request.path).error_body is not None
        if is_program and isinstance(response, HttpResponseNotAllowed) and not response.content:
            return answer(request, _not_allowed(request, response))  # of Django's own views
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer PortalErrors and outages, and errors of the API; leave the rest to Django."""
        return error_response(request, error)


def _not_allowed(request: HttpRequest, response: HttpResponseNotAllowed) -> PortalError:
    return MethodNotAllowed(
        Message("{method} is not allowed here.", method=request.method),
        data={"allow": response.headers["Allow"]},
    )


def error_response(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """Return the response to a PortalError, an outage or an error of the API, else None."""
    if isinstance(error, PortalError):
        return answer(request, error)
    if away := outage(error):
        log.error("request %s: %s", request_id.get(), error)
        return answer(request, away)
    is_program = protocol_at(request.path).error_body is not None
    if isinstance(error, SuspiciousOperation):
        return answer(request, malformed(error)) if is_program else None
    if is_program:
        log.exception("internal error %s", request_id.get())
        return answer(
            request,
            PortalError(
                Message("Something went wrong on our side. Tell your operator the request ID.")
            ),
        )
    return None
