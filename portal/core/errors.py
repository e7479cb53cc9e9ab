"""The errors that services raise. Only entry points (REST, pages, tasks, CLI) translate them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    @classmethod
    def at(cls, field: str, message: str, code: str | None = None) -> Conflict:
        """Return the error for one field, such as a name that exists."""
        return cls(message, data={"errors": [{"field": field, "message": message}]}, code=code)


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


class InputErrors:
    """Collect errors of fields, to raise all of them at once.

    `with errors:` keeps an error of a field and goes on after the block; then `errors.raise_all()`
    raises the first one of each field.
    """

    def __init__(self) -> None:
        self._found: list[PortalError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, InvalidInput | Conflict) or not error.data.get("errors"):
            return False
        self._found.append(error)
        return True

    def raise_all(self) -> None:
        """Raise what was kept: one error as it is, several as one InvalidInput."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            errors = [one for error in self._found for one in error.data["errors"]]
            firsts = {one["field"]: one for one in reversed(errors)}
            raise InvalidInput(self._found[0].message, errors=[*reversed(firsts.values())])
