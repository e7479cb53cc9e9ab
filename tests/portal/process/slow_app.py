"""A WSGI application for the tests of limits: a long answer made piece by piece, and one that says how long the body was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from portal.process.portions import Portions

PIECES, PIECE = 480, bytes(range(256)) * 512      # 60 MiB


class Log:
    """As Django's StreamingHttpResponse."""

    streaming = True

    def __iter__(self) -> Iterator[bytes]:
        return (PIECE for _ in range(PIECES))

    def close(self) -> None:
        """There is nothing to close."""


def app(environ: dict[str, Any], start_response: Any) -> Any:
    if environ["PATH_INFO"] == "/log":
        start_response("200 OK", [("Content-Length", str(PIECES * len(PIECE)))])
        return Log()
    body = str(len(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


web = Portions(app)
