"""The errors that services raise. Only entry points (REST, pages, tasks, CLI) translate them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from portal.core.messages import Message


class PortalError(Exception):
    """An error that a user can act on.

    `message` says what to do, `code` is for programs, and `data` holds the details.
    """

    code: ClassVar[str] = "internal"
    http: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, *, data: Mapping[str, Any] | None = None, code: str | None = None
    ):
        self.message = Message(message)
        super().__init__(self.message)
        self.data = dict(data or {})
        self.kind = code or self.code


class InvalidInput(PortalError):
    """Invalid input; `errors` holds {"field", "message"} pairs."""

    code, http = "invalid_input", 400

    def __init__(
        self, message: str, *, errors: Sequence[Mapping[str, Any]] = (), code: str | None = None
    ):
        super().__init__(message, data={"errors": [dict(e) for e in errors]}, code=code)

    @classmethod
    def at(cls, field: str, message: str) -> InvalidInput:
        """Return the error for one invalid field."""
        return cls.of([(field, message)])

    @classmethod
    def of(cls, faults: Sequence[tuple[str, str]]) -> InvalidInput:
        """Return the error for several invalid fields, as (field, message)."""
        return cls(
            Message.joined(": ", faults[0]),
            errors=[{"field": field, "message": message} for field, message in faults],
        )


def check_all(*checks: Callable[[], Any]) -> list[Any]:
    """Make all checks and return their results. Raises one error with all that they refuse.

    A single refusal is raised as it is.
    """
    refused: list[PortalError] = []
    results = []
    for check in checks:
        try:
            results.append(check())
        except (InvalidInput, Conflict) as error:
            refused.append(error)
    if len(refused) > 1:
        raise InvalidInput.of(
            [
                (str(fault["field"]), fault["message"])
                for error in refused
                for fault in error.data.get("errors")
                or ({"field": "name", "message": error.message},)
            ]
        )
    if refused:
        raise refused[0]
    return results


class NotAuthenticated(PortalError):
    code, http = "not_authenticated", 401


class NotPermitted(PortalError):
    code, http = "not_permitted", 403


class NotFound(PortalError):
    code, http = "not_found", 404


class MethodNotAllowed(PortalError):
    """`data["allow"]` holds the methods of the address."""

    code, http = "method_not_allowed", 405


class Conflict(PortalError):
    code, http = "conflict", 409


class Gone(PortalError):
    code, http = "gone", 410


class QuotaExceeded(PortalError):
    code, http = "quota_exceeded", 409


class RequestTimeout(PortalError):
    code, http, retryable = "request_timeout", 408, True


class TooLarge(PortalError):
    code, http = "too_large", 413


class RateLimited(PortalError):
    code, http, retryable = "rate_limited", 429, True


class Unavailable(PortalError):
    code, http, retryable = "unavailable", 503, True
