"""A WSGI application for the tests of the front server: echoes requests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/big":
        start_response("200 OK", [("Content-Type", "application/octet-stream")])
        return (b"x" * 65536 for _ in range(320))
    if path == "/nothing":
        start_response("204 No Content", [("X-Kept", "yes")])
        return []
    if path == "/pid":
        import os

        body = str(os.getpid()).encode()
    else:
        data = environ["wsgi.input"].read()
        body = json.dumps(
            {
                "method": environ["REQUEST_METHOD"],
                "path": path,
                "query": environ["QUERY_STRING"],
                "length": len(data),
                "sum": sum(data) % 65521,
                "client": environ.get("HTTP_X_MUSTER_CLIENT"),
                "host": environ.get("HTTP_HOST"),
            }
        ).encode()
    start_response(
        "200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    )
    return [body]
