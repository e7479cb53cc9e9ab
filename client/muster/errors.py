"""Typed errors. `code` is for programs, `message` for people, `errors` lists invalid fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

Json = dict[str, Any]


class MusterError(Exception):
    """Base of all errors.

    `status` is the HTTP status, 0 if no request was sent. `exit_code` is the CLI's exit code.
    """

    exit_code: ClassVar[int] = 1
    kind: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int = 0,
        errors: Sequence[Mapping[str, Any]] = (),
        request_id: str = "",
        body: Json | None = None,
    ):
        super().__init__(message)
        self.message, self.code, self.status = message, code or self.kind, status
        self.errors = [dict(fault) for fault in errors]
        self.request_id = request_id
        self.body = body

    @property
    def help(self) -> str:
        """The address of the guide about this error; "" for an error that the portal did not send."""
        return str((self.body or {}).get("help") or "")

    def as_problem(self) -> Json:
        """Return problem+json (RFC 9457): the portal's, or an equivalent for a local error."""
        return self.body or {
            "type": "about:blank",
            "title": self.code,
            "status": self.status,
            "code": self.code,
            "detail": self.message,
            "errors": self.errors,
        }


class InvalidInput(MusterError):
    exit_code, kind = 2, "invalid_input"


class NotAuthenticated(MusterError):
    exit_code, kind = 4, "not_authenticated"


class NotPermitted(MusterError):
    exit_code, kind = 4, "not_permitted"


class NotFound(MusterError):
    exit_code, kind = 3, "not_found"


class Conflict(MusterError):
    exit_code, kind = 5, "conflict"


class QuotaExceeded(Conflict):
    kind = "quota_exceeded"


class TooLarge(MusterError):
    kind = "too_large"


class RateLimited(MusterError):
    exit_code, kind = 6, "rate_limited"


class Unavailable(MusterError):
    """The portal is unreachable or temporarily unavailable."""

    exit_code, kind = 6, "unavailable"


_BY_CODE = {kind.kind: kind for kind in (QuotaExceeded,)}
_BY_STATUS: dict[int, type[MusterError]] = {
    400: InvalidInput,
    422: InvalidInput,
    401: NotAuthenticated,
    403: NotPermitted,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: RateLimited,
    408: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
    507: Unavailable,
}


def error_of(status: int, body: object, text: str, url: str) -> MusterError:
    """Return the error for an HTTP answer. `body` is its JSON, or None."""
    kind = _BY_STATUS.get(status, MusterError)
    if isinstance(body, dict) and isinstance(body.get("error_code"), str):  # of the MLflow API
        return kind(str(body.get("message")), code=body["error_code"].lower(), status=status)
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        what = " ".join(text.split())[:120] or "nothing"
        return kind(
            f"{url} answered {status}, but not as a Muster portal: {what}. Check the URL.",
            status=status,
        )
    kind = _BY_CODE.get(body["code"], kind)
    message = str(body.get("detail") or body.get("title") or body["code"])
    request_id = str(body.get("request_id") or "")
    errors = [fault for fault in body.get("errors") or [] if isinstance(fault, dict)]
    return kind(
        message, code=body["code"], status=status, errors=errors, request_id=request_id, body=body
    )
