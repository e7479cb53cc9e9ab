"""A server double that sends arbitrary bytes: broken, endless or false responses."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator


class Server:
    """Answers each connection with `talk(connection, request)`, or with the given bytes.

    `requests` holds the received bytes. `close` ends every connection.
    """

    def __init__(self, talk: Callable[[socket.socket, bytes], object] | bytes):
        self.socket, self.requests, self._talk = (
            socket.create_server(("127.0.0.1", 0)),
            list[bytes](),
            talk,
        )
        self.host = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.url = f"http://{self.host}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        for one in (self.socket, *self._open):
            with contextlib.suppress(OSError):  # closed already
                one.shutdown(socket.SHUT_RDWR)  # wakes its thread
        self.socket.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self._open.append(connection)
                threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            self.requests.append(connection.recv(65536))
            if isinstance(self._talk, bytes):
                connection.sendall(self._talk)
            else:
                self._talk(connection, self.requests[-1])


@contextlib.contextmanager
def servers() -> Iterator[Callable[..., Server]]:
    """Return a function that starts servers, stopped at the end of the block."""
    made: list[Server] = []

    def start(talk: Callable[[socket.socket, bytes], object] | bytes) -> Server:
        made.append(Server(talk))
        return made[-1]

    try:
        yield start
    finally:
        for server in made:
            server.close()
