"""Render errors as pages, and for programs as their protocol expresses them."""

from __future__ import annotations

import sys

from django.conf import settings
from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve

from portal.core.errors import InvalidInput, NotFound, NotPermitted, PortalError, TooLarge
from portal.core.events import request_id
from portal.core.messages import Message
from portal.core.outage import outage
from portal.core.protocols import TITLES, protocol_at
from portal.web.denials import record_denied_request

TEMPLATES = {403: "403.html", 404: "404.html", 405: "404.html"}  # inside the shell


def answer(request: HttpRequest, error: PortalError, *, is_bare: bool = False) -> HttpResponse:
    """Return the error as the protocol of the path expresses it.

    `is_bare`: a page is rendered without the request, whose context may fail.
    """
    record_denied_request(request, error)
    protocol = protocol_at(request.path)
    if protocol.error_body is not None:
        response = HttpResponse(
            protocol.render_error(error), status=error.http, content_type=protocol.error_type
        )
        if protocol.error_headers is not None:
            for name, value in protocol.error_headers(error).items():
                response.headers[name] = value
    else:
        name = TEMPLATES.get(error.http, "error.html")
        context = {
            "error": error,
            "status": error.http,
            "title": TITLES.get(error.http, "Error"),
            "request_id": request_id.get(),
            "list_path": _list_path(request.path) if error.http == 404 else "",
        }
        is_bare = is_bare or error.http == 503  # in an outage, the context needs the database
        response = HttpResponse(
            render_to_string(name, context, None if is_bare else request), status=error.http
        )
    if error.http == 401:
        response.headers.setdefault("WWW-Authenticate", 'Bearer realm="muster"')
    if "allow" in error.data:
        response.headers["Allow"] = str(error.data["allow"])
    if "retry_after" in error.data:
        response.headers["Retry-After"] = str(error.data["retry_after"])
    return response


def _list_path(path: str) -> str:
    """Return the list that an address without a page would be in: /atlas/jobs of /atlas/jobs/99."""
    parts = path.split("/")
    found = "/".join(parts[:3])
    try:
        resolve(found)
    except Resolver404:
        return ""
    return found if len(parts) > 3 and parts[3] else ""


def malformed(error: SuspiciousOperation) -> PortalError:
    """Return the error for a request that Django rejects as too large or malformed."""
    if isinstance(error, DisallowedHost):
        return InvalidInput(
            Message("The portal does not answer to this host name. Use the portal's own address."),
            code="unknown_host",
        )
    if isinstance(error, RequestDataTooBig):
        return TooLarge(Message("The request is too large."))
    if isinstance(error, TooManyFieldsSent):
        return InvalidInput(
            Message(
                "The request has more than {DATA_UPLOAD_MAX_NUMBER_FIELDS} parameters.",
                DATA_UPLOAD_MAX_NUMBER_FIELDS=f"{settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,}",
            )
        )
    return InvalidInput(Message("The request is malformed."))


def bad_request(request: HttpRequest, exception: SuspiciousOperation) -> HttpResponse:
    """Answer a request that Django rejects outside of views, such as one for an unknown host."""
    return answer(request, malformed(exception), is_bare=True)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without a valid CSRF token, usually from a page kept open across a sign-out."""
    return answer(
        request,
        NotPermitted(
            Message("This form is out of date. Reload the page and send it again."), code="csrf"
        ),
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Render the 404 page."""
    return answer(
        request,
        NotFound(
            Message("There is no page at this address. Check the address, or go to the start page.")
        ),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Render an internal error with its request id, or an outage raised outside of views."""
    return answer(
        request,
        outage(sys.exc_info()[1])
        or PortalError(
            Message("Something went wrong on our side. Tell your operator the request ID.")
        ),
    )
