"""Answers that are made piece by piece, such as downloads of logs, give their thread back after each portion, so that a slow reader
holds none. The embedded process asks for the next portion itself, the front door over its socket to granian (`NEXT`)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

PORTION = 128 << 10  # bytes
NEXT = "x-muster-next"  # web -> front door: this names the rest of the answer; front door -> web: that rest, please
LENGTH = "x-muster-length"  # the length of the whole, of which this is a portion
_KEPT_SECONDS = 300.0  # longer than a reader may pause: the front door has gone


def portion(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """What comes next, about PORTION bytes, and whether that was the end."""
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
    """WSGI, in the web process behind the front door. What a client sends under these names, the front door drops."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._kept: dict[str, _Rest] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if name := environ.pop("HTTP_X_MUSTER_NEXT", ""):
            return self._go_on(name, environ["REQUEST_METHOD"], start_response)
        said: list[Any] = []
        response = self._application(environ, lambda *told: said.extend(told))
        if not getattr(response, "streaming", False) or environ["REQUEST_METHOD"] == "HEAD":
            start_response(*said)
            return response if not getattr(response, "streaming", False) else _nothing(response)
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

    def _go_on(self, name: str, method: str, start_response: Any) -> Iterable[bytes]:
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
        for old in [key for key, kept in list(self._kept.items()) if now - kept.at > _KEPT_SECONDS]:
            if left := self._kept.pop(old, None):
                left.close()
        name = name or secrets.token_urlsafe(16)
        self._kept[name] = rest
        return name


def _nothing(response: Any) -> Iterable[bytes]:
    """The answer to HEAD: its body is not made."""
    response.close()
    return []
