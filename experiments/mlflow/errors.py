"""Errors as MLflow's clients expect them: `{"error_code", "message"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portal.core.errors import PortalError
from portal.core.messages import Message

ALREADY_EXISTS = "RESOURCE_ALREADY_EXISTS"
ENDPOINT_NOT_FOUND = "ENDPOINT_NOT_FOUND"
INVALID_STATE = "INVALID_STATE"
NOT_IMPLEMENTED = "NOT_IMPLEMENTED"
# By the HTTP status of an error that names no code of MLflow itself
_CODES = {
    400: "INVALID_PARAMETER_VALUE",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    408: "DEADLINE_EXCEEDED",
    409: "RESOURCE_CONFLICT",
    410: "RESOURCE_DOES_NOT_EXIST",
    413: "INVALID_PARAMETER_VALUE",
    429: "REQUEST_LIMIT_EXCEEDED",
    501: NOT_IMPLEMENTED,
    503: "TEMPORARILY_UNAVAILABLE",
}
_UNAUTHENTICATED = 401
_OF_CLIENTS = frozenset({ALREADY_EXISTS, ENDPOINT_NOT_FOUND, INVALID_STATE, *_CODES.values()})


def body(error: PortalError) -> Mapping[str, Any]:
    """Return the body of an error response."""
    code = error.kind if error.kind in _OF_CLIENTS else _CODES.get(error.http, "INTERNAL_ERROR")
    if error.http != _UNAUTHENTICATED:
        return {"error_code": code, "message": error.message}
    hint = Message("Set MLFLOW_TRACKING_TOKEN to a token of `muster token create NAME`.")
    return {"error_code": code, "message": f"{error.message} {hint}"}


class AlreadyExists(PortalError):
    """A name is taken. Clients that create what may exist match this code."""

    code, http = ALREADY_EXISTS, 400


class InvalidState(PortalError):
    """The row is in a state that does not allow it.

    MLflow's server answers 500, which its clients repeat in vain for minutes.
    """

    code, http = INVALID_STATE, 400


class NoRoute(PortalError):
    """This server does not have the route. Clients then fall back to older routes."""

    code, http = ENDPOINT_NOT_FOUND, 404


class NotImplementedHere(PortalError):
    """A known route that this server does not offer."""

    code, http = NOT_IMPLEMENTED, 501
