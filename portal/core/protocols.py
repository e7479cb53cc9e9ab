"""The protocols that programs speak, by path prefix.

Each app declares its own in `protocols.py`. Middleware, error pages and body limits read them here, so a new
protocol is one declaration. Paths outside of all prefixes are pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from portal.core.declarations import declared
from portal.core.errors import PortalError
from portal.core.events import request_id
from portal.core.help import error_path

MAX_BODY = 2_621_440  # bytes of a form or JSON body
UPLOAD = 64 << 20  # bytes of files that a form takes
# Key of `request.META`: a large body that is streamed (portal/process/bodies.py).
BODY = "muster.body"
TITLES = {
    400: "Invalid input",
    401: "Not signed in",
    403: "Not permitted",
    404: "Not found",
    409: "Conflict",
    408: "Request timeout",
    413: "Too large",
    415: "Unsupported media type",
    405: "Method not allowed",
    429: "Too many requests",
    503: "Unavailable",
    507: "Insufficient storage",
    500: "Internal error",
}


def problem(error: PortalError) -> dict[str, Any]:
    """Return the body of a problem+json response (RFC 9457)."""
    data = dict(error.data)
    return {
        "type": f"urn:muster:problem:{error.kind}",
        "title": TITLES.get(error.http, "Error"),
        "status": error.http,
        "code": error.kind,
        "detail": error.message,
        "help": settings.MUSTER_BASE_URL + error_path(error.kind),
        "errors": data.pop("errors", []),
        "retryable": error.retryable,
        "request_id": request_id.get(),
        **({"data": data} if data else {}),
    }


class Authentication(StrEnum):
    SESSION = "session"  # or an access token
    TOKEN = "token"  # noqa: S105 - likewise; with an Authorization header, cookies are ignored
    OWN = "own"  # the protocol's views read the Authorization header


@dataclass(frozen=True)
class Protocol:
    """One protocol, at all paths below `prefix`.

    `org` is a pattern of paths whose first group is the slug of the organization; without it, the
    views find the organization. `error_body` None renders errors as pages; `error_headers` are
    sent in addition. `max_body` limits request bodies in bytes, except at paths that match a
    pattern in `larger_bodies`.
    """

    prefix: str
    authentication: Authentication
    org: re.Pattern[str] | None = None
    error_body: Callable[[PortalError], Mapping[str, Any]] | None = problem
    error_type: str = "application/problem+json"
    error_headers: Callable[[PortalError], Mapping[str, str]] | None = None
    is_translated: bool = False
    max_body: int = MAX_BODY
    larger_bodies: tuple[tuple[re.Pattern[str], int], ...] = ()

    def org_in(self, path: str) -> str:
        """Return the slug of the organization in a path, or ""."""
        found = self.org.match(path) if self.org else None
        return found[1] if found else ""

    def most_bytes(self, path: str) -> int:
        """Return the size limit of a request body at a path in bytes."""
        larger = (most for pattern, most in self.larger_bodies if pattern.fullmatch(path))
        return next(larger, self.max_body)

    def is_upload(self, path: str) -> bool:
        """Return whether a path takes bodies that may be sent for a long time, if they keep coming."""
        return self.most_bytes(path) >= UPLOAD

    def render_error(self, error: PortalError) -> bytes:
        """Return the body of an error response of type `error_type`."""
        return json.dumps((self.error_body or problem)(error), cls=DjangoJSONEncoder).encode()


PAGES = Protocol("", Authentication.SESSION, error_body=None, is_translated=True)


@dataclass(frozen=True)
class LargerBody:
    """A larger size limit in bytes, of uploads at paths of a protocol that another app declares."""

    prefix: str
    pattern: re.Pattern[str]
    most: int


@cache
def protocols() -> tuple[Protocol, ...]:
    """Return all protocols, those with the longest prefixes first."""
    larger: list[LargerBody] = list(declared("protocols", "LARGER_BODIES"))
    found = [
        replace(
            known,
            larger_bodies=(
                *known.larger_bodies,
                *((body.pattern, body.most) for body in larger if body.prefix == known.prefix),
            ),
        )
        for known in (PAGES, *declared("protocols", "PROTOCOLS"))
    ]
    return tuple(sorted(found, key=lambda known: -len(known.prefix)))


def protocol_at(path: str) -> Protocol:
    """Return the protocol with the longest prefix of a path, else PAGES."""
    return next(known for known in protocols() if path.startswith(known.prefix))
