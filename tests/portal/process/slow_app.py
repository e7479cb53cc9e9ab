"""A WSGI application for the tests of limits: a long streaming response, and a body length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

PIECES, PIECE = 128, bytes(range(256)) * 512  # 16 MiB, more than the kernel buffers


class Log:
    """A streaming response like Django's StreamingHttpResponse."""

    streaming = True
    open: set[Log] = set()

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause
        self.open.add(self)

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(PIECES):
            time.sleep(self.pause)
            yield PIECE

    def close(self) -> None:
        self.open.discard(self)


def app(environ: dict[str, Any], start_response: Any) -> Any:
    if environ["PATH_INFO"] == "/log":
        start_response("200 OK", [("Content-Length", str(PIECES * len(PIECE)))])
        return Log()
    if environ["PATH_INFO"] == "/slow-log":
        start_response("200 OK", [])
        return Log(0.2)
    if environ["PATH_INFO"] == "/open":
        start_response("200 OK", [])
        return [b"%d" % len(Log.open)]
    if environ["PATH_INFO"] == "/client":
        start_response("200 OK", [])
        names = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")
        return [" ".join(environ.get(name, "") for name in names).encode()]
    if environ["PATH_INFO"] == "/stored":
        path = f"/_files/{environ['QUERY_STRING']}"
        headers = {"X-Accel-Redirect": path, "Content-Type": "application/octet-stream"}
        start_response("200 OK", [*headers.items(), ("Content-Disposition", "attachment")])
        return [b""]
    if stream := environ.get("muster.body"):
        stream.who = lambda: environ.get("HTTP_X_PERSON", "ada")
    body = str(len(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
