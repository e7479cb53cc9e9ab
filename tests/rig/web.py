"""A real HTTP server of a folder, with ranges, entity tags and a count of requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler

from tests.rig.http_server import LoopbackServer


class WebServer:
    """Serves `files` by path; `requests` are (method, path, Range).

    `cut` is by path how many answers end after half of the body; `redirects` are by path.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.cut: dict[str, int] = {}
        self.has_ranges = True
        self.seconds = 0.0  # before each body
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._send(has_body=False)

            def do_GET(self) -> None:
                self._send(has_body=True)

            def _send(self, *, has_body: bool) -> None:
                asked = self.headers.get("Range", "")
                web.requests.append((self.command, self.path, asked))
                target, data = web.redirects.get(self.path), web.files.get(self.path)
                if target or data is None:
                    self.send_response(302 if target else 404)
                    if target:
                        self.send_header("Location", target)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                tag = f'"{sha256(data).hexdigest()[:16]}"'
                start = int(asked[6:-1]) if asked and web.has_ranges else 0
                if self.headers.get("If-Range", tag) != tag:
                    start = 0
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
                self.send_header("ETag", tag)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                if not has_body:
                    return
                time.sleep(web.seconds)
                if web.cut.get(self.path):
                    web.cut[self.path] -= 1
                    self.wfile.write(data[start : start + (len(data) - start) // 2])
                    self.close_connection = True
                else:
                    self.wfile.write(data[start:])

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = LoopbackServer(Handler)
        self.host, self.url = self._server.host, self._server.url

    def close(self) -> None:
        self._server.close()


@contextmanager
def web_server() -> Iterator[WebServer]:
    server = WebServer()
    try:
        yield server
    finally:
        server.close()
