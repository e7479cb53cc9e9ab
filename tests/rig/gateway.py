"""A gateway in a thread, with a provider whose answers the test sets, and apps on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import pytest

from portal.core.errors import NotAuthenticated, NotFound, NotPermitted, PortalError
from portal.gateway.provider import Address, Credential, Grant, PortUse, Target
from portal.gateway.running import run_thread
from portal.gateway.server import Gateway, Options
from portal.process.sockets import listen
from tests.rig.processes import free_port

TOKEN = "mst_ada"
APPS = "apps.localhost"


@dataclass
class Asked:
    """A provider of a gateway: it stands in for the app above, and remembers what it was asked."""

    port: int = 0
    key: str = "key"
    people: dict[str, str] = field(default_factory=lambda: {TOKEN: "ada", "ticket": "ada"})
    refusal: PortalError | None = None
    codes: set[str] = field(default_factory=lambda: {"code"})
    uses: list[PortUse] = field(default_factory=list)
    has_answered: bool = True
    is_tunnel: bool = False
    admitted: int = 0
    grant: dict[str, object] = field(default_factory=dict)  # what else a grant says
    changes: int = 0  # of access

    def admit(self, address: Address, credential: Credential) -> Grant:
        self.admitted += 1
        person = self.people.get(credential.token or credential.ticket)
        if person is None:
            raise NotAuthenticated("who?")
        if address.org != "atlas":
            raise NotFound("There is nothing at this address.")
        if self.refusal is not None:
            raise self.refusal
        return Grant(self.key, self.port, person, **self.grant)  # type: ignore[arg-type]

    def locate(self, grant: Grant) -> Target:
        return Target() if self.is_tunnel else Target("127.0.0.1", grant.port)

    def is_starting(self, grant: Grant) -> bool:
        return not self.has_answered

    def portal_address(self, address: Address, nonce: str, path: str, *, is_below: bool) -> str:
        return f"http://portal/{address.org}/{address.number}?nonce={nonce}"

    def redeem(self, code: str, nonce: str, address: Address) -> tuple[str, str]:
        if code not in self.codes or not nonce:
            raise NotPermitted("used")
        self.codes.remove(code)
        return "ticket", "//evil/?a=%3F"

    def tunnel_key(self, token: str, client: str) -> str:
        if token != TOKEN:
            raise NotAuthenticated("who?")
        return self.key

    def page(self, address: Address, credential: Credential, error: PortalError) -> bytes:
        return f"<p>{error.message}</p><p>log</p>".encode()

    def record(self, uses: Sequence[PortUse]) -> None:
        self.uses += uses

    def access_changes(self, since: int) -> tuple[int, bool]:
        return self.changes + 1, bool(since) and since <= self.changes


@dataclass
class Running:
    """A gateway that runs, and what it asks."""

    asked: Asked
    address: tuple[str, int]

    def connect(self) -> socket.socket:
        sock = socket.create_connection(self.address, 10)
        sock.settimeout(20)
        return sock

    def say(self, *lines: str, body: bytes = b"", first: str = "", host: str = "") -> bytes:
        """Send one request and return everything until the gateway closes."""
        with closing(self.connect()) as sock:
            sock.sendall(head(*lines, first=first, host=host) + body)
            return everything(sock)


def head(*lines: str, first: str = "", host: str = "", is_by_token: bool = True) -> bytes:
    first = first or "GET /_apps/atlas/7/web/ HTTP/1.1"
    who = (f"Authorization: Bearer {TOKEN}",) if is_by_token else ()
    return "\r\n".join((first, f"Host: {host or 'portal'}", *who, *lines, "", "")).encode()


def everything(sock: socket.socket) -> bytes:
    parts = []
    while part := sock.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def until(sock: socket.socket, end: bytes) -> bytes:
    data = b""
    while end not in data:
        part = sock.recv(1 << 16)
        if not part:
            raise ConnectionError(data)
        data += part
    return data


@dataclass
class App:
    """An app on loopback that answers each connection with one function; keeps what it received."""

    answer: object
    received: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(sock,))
            self.threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with closing(sock):
            sock.settimeout(30)
            try:
                self.answer(sock, self.received)  # type: ignore[operator]
            except OSError:
                return

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(30)


@pytest.fixture
def serving() -> Iterator[object]:
    """Return a function that starts a gateway in front of an app that answers as given."""
    stop, made = threading.Event(), list[object]()

    def start(
        answer: object = None,
        options: dict[str, object] | None = None,
        host: str = "127.0.0.1",
    ) -> tuple[Running, App]:
        app, asked, port = App(answer), Asked(), free_port()
        asked.port = app.port
        quick = Options(
            apps_host=APPS, cache_seconds=0, check_seconds=0.1, report_seconds=0.1, head_seconds=0.5
        )
        options_of_test = replace(quick, **(options or {}))  # type: ignore[arg-type]
        sock = listen(host, port)
        thread = threading.Thread(
            target=run_thread, args=(sock, lambda: Gateway(asked, options_of_test), stop)
        )
        thread.start()
        made.extend((app, thread))
        return Running(asked, (host, port)), app

    yield start
    stop.set()
    for thread in made[1::2]:
        thread.join(30)  # type: ignore[attr-defined]
    for app in made[::2]:
        app.close()  # type: ignore[attr-defined]
