"""An HTTP server on loopback for doubles: a port of its own, and threads that end with it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class LoopbackServer(ThreadingHTTPServer):
    """Serves from its start until `close`, or the end of its block; `name` is that of its threads."""

    request_queue_size = 128

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], port: int = 0, name: str = "double"
    ) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self._name, self._open = name, set[socket.socket]()
        self.host = f"127.0.0.1:{self.server_port}"
        self.url = f"http://{self.host}"
        self._start(self.serve_forever, 0.02)

    def close(self) -> None:
        """Stop, and end the connections that clients keep open, whose threads would wait."""
        self.shutdown()
        self.server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        self._start(self.process_request_thread, request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def _start(self, target: Callable[..., None], *given: Any) -> None:
        threading.Thread(target=target, args=given, name=self._name, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
