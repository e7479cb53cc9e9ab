"""Render exceptions of REST views as problem+json."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from yaml.representer import SafeRepresenter

from portal.core import errors
from portal.core.events import request_id
from portal.core.messages import Message
from portal.core.outage import outage
from portal.core.protocols import problem
from portal.web.denials import record_denied_request
from portal.web.errors import malformed

log = logging.getLogger(__name__)
# The OpenAPI view renders errors as YAML.
SafeRepresenter.add_representer(Message, lambda yaml, text: yaml.represent_str(str.__str__(text)))


class _FrameworkError(errors.PortalError):
    """An HTTP error of the framework without a class of its own (405, 406, 415)."""

    def __init__(self, message: str, status: int, code: str):
        super().__init__(message, code=code)
        self.http = status  # type: ignore[misc]


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Handle exceptions for DRF. Unknown ones become `internal`, without details."""
    if not isinstance(error, errors.PortalError):
        error = _translate(error)
    record_denied_request(getattr(context.get("request"), "_request", None), error)
    response = Response(problem(error), status=error.http, content_type="application/problem+json")
    if error.http == 401:
        response["WWW-Authenticate"] = 'Bearer realm="muster"'
    if "retry_after" in error.data:
        response["Retry-After"] = str(error.data["retry_after"])
    return response


def _translate(error: Exception) -> errors.PortalError:
    match error:
        case exceptions.ValidationError():
            return errors.InvalidInput(
                "Some fields are invalid.", errors=list(_fields(error.detail))
            )
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return errors.NotAuthenticated(
                "Sign in, or send an access token: Authorization: Bearer mst_…"
            )
        case exceptions.PermissionDenied() | PermissionDenied():
            return errors.NotPermitted(str(error) or "You do not have permission to do that.")
        case exceptions.NotFound() | Http404():
            return errors.NotFound("There is no such thing here.")
        case SuspiciousOperation():
            return malformed(error)
        case exceptions.APIException():
            return _FrameworkError(str(error.detail), error.status_code, error.default_code)
    if away := outage(error):
        log.error("request %s: %s", request_id.get(), error)
        return away
    log.exception("internal error %s", request_id.get(), exc_info=error)
    return errors.PortalError(
        "Something went wrong on our side. Tell your operator the request ID."
    )


def _fields(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _fields(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _fields(inner, path)
    else:
        yield {"field": path, "message": str(detail)}
