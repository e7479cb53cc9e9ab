"""A real HTTP server that accepts batches like the portal and fails on demand."""

from __future__ import annotations

import json
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.rig.http_server import LoopbackServer

Json = dict[str, Any]


class Portal:
    """`mood` is a status to return, "hang" (never answer), "cut" (close unanswered) or "nonsense"."""

    def __init__(self, port: int = 0, token: str = "mst_right"):
        self.mood: int | str = 202
        self.retry_after = ""
        self.answer = "{}"
        self.clock_ahead = 0.0
        self.token = token
        self.requests: list[Json] = []
        self.paths: list[str] = []
        self.freed = threading.Event()
        self._server = LoopbackServer(self._handler(), port)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def taken(self) -> list[Json]:
        """Return each batch once, in order of arrival, like a portal that drops duplicates."""
        return list({request["batch"]: request for request in self.requests}.values())

    def close(self) -> None:
        self.freed.set()
        self._server.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        portal = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                portal.paths.append(self.path)
                if self.headers["Authorization"] != f"Bearer {portal.token}":
                    return self.answer(401)
                if portal.mood in ("hang", "cut", 202):
                    portal.requests.append(body)
                if portal.mood in ("hang", "cut"):
                    portal.freed.wait(None if portal.mood == "hang" else 0)
                    self.close_connection = True
                elif portal.mood == "nonsense":
                    self.wfile.write(b"\0\0 this is no HTTP\r\n\r\n")
                    self.close_connection = True
                else:
                    self.answer(int(portal.mood))
                return None

            def answer(self, status: int) -> None:
                self.send_response_only(status)
                self.send_header("Date", formatdate(time.time() + portal.clock_ahead, usegmt=True))
                self.send_header("Content-Length", str(len(portal.answer)))
                if portal.retry_after:
                    self.send_header("Retry-After", portal.retry_after)
                self.end_headers()
                self.wfile.write(portal.answer.encode())

            def log_message(self, *args: Any) -> None:
                """Log nothing."""

        return Handler
