"""Send streaming responses in portions, so that slow readers do not occupy threads.

The thread is released after each portion. The embedded process requests the next one itself, the
front server over its socket to granian (`NEXT`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

PORTION = 128 << 10  # bytes
# In a response: identifies the rest of it. In a request: asks for that rest.
NEXT = "x-muster-next"
LENGTH = "x-muster-length"  # length of the complete response
# Longer than a client may pause; afterwards the front server must be gone.
_MAX_PAUSE = 300.0


def portion(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """Return the next bytes, about PORTION, and whether they are the last."""
    taken, size = [], 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size >= PORTION:
            return b"".join(taken), False
    return b"".join(taken), True


@dataclass
class _Rest:
    pieces: Iterator[bytes]
    close: Callable[[], None]
    at: float = field(default_factory=time.monotonic)


class Portions:
    """WSGI middleware of the web process; the front server drops these headers from clients."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._kept: dict[str, _Rest] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if name := environ.pop("HTTP_X_MUSTER_NEXT", ""):
            return self._next_portion(name, environ["REQUEST_METHOD"], start_response)
        said: list[Any] = []
        response = self._application(environ, lambda *told: said.extend(told))
        if not getattr(response, "streaming", False) or environ["REQUEST_METHOD"] == "HEAD":
            start_response(*said)
            return (
                response if not getattr(response, "streaming", False) else _without_body(response)
            )
        status, headers = said[:2]
        rest = _Rest(iter(response), response.close)
        data, is_last = self._taken(rest)
        if not is_last:
            headers = [
                (LENGTH if name.lower() == "content-length" else name, value)
                for name, value in headers
            ]
            headers.append((NEXT, self._keep(rest)))
        start_response(status, headers)
        return [data]

    def _next_portion(self, name: str, method: str, start_response: Any) -> Iterable[bytes]:
        rest = self._kept.pop(name, None)
        if rest is None or method == "DELETE":
            if rest is not None:
                rest.close()
            start_response("410 Gone" if rest is None else "204 No Content", [])
            return []
        data, is_last = self._taken(rest)
        start_response("200 OK", [] if is_last else [(NEXT, self._keep(rest, name))])
        return [data]

    def _taken(self, rest: _Rest) -> tuple[bytes, bool]:
        is_last = True
        try:
            data, is_last = portion(rest.pieces)
            return data, is_last
        finally:
            if is_last:
                rest.close()

    def _keep(self, rest: _Rest, name: str = "") -> str:
        now = rest.at = time.monotonic()
        for old in [key for key, kept in list(self._kept.items()) if now - kept.at > _MAX_PAUSE]:
            if left := self._kept.pop(old, None):
                left.close()
        name = name or secrets.token_urlsafe(16)
        self._kept[name] = rest
        return name


def _without_body(response: Any) -> Iterable[bytes]:
    """Close a streaming response to HEAD without producing its body."""
    response.close()
    return []
