"""Small real servers that get what is sent: a webhook receiver and a mail server."""

from __future__ import annotations

import email
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
from aiosmtpd.controller import Controller

from tests.rig.http_server import LoopbackServer
from tests.rig.processes import free_port


class Receiver:
    """An HTTP server that keeps requests: (path, headers, JSON body).

    `status` is what it answers, with `location` in a redirect.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any, bytes]] = []
        self.status, self.location = 204, ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), orjson.loads(raw), raw))
                self.send_response(outer.status)
                if outer.location:
                    self.send_header("Location", outer.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = LoopbackServer(Handler)
        self.host, self.url = self._server.host, self._server.url

    def close(self) -> None:
        self._server.close()


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Run a receiver of webhooks."""
    made = Receiver()
    try:
        yield made
    finally:
        made.close()


class Mailbox:
    """A mail server that keeps what it accepts.

    It refuses the recipients in `refused`, and the content of mail with a text in `refused_content`.
    """

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refused: dict[str, str] = {}
        self.refused_content: dict[str, str] = {}

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        mail = email.message_from_bytes(envelope.content, policy=default)
        for text, answer in self.refused_content.items():
            if text in str(mail["Subject"]) or text in str(mail.get_body()):  # type: ignore[attr-defined]
                return answer
        self.mails.append(mail)  # type: ignore[arg-type]
        return "250 OK"


@contextmanager
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """Run a mail server, and let Django's settings name it."""
    made = Mailbox()
    port = free_port()
    controller = Controller(made, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    settings.EMAIL_PORT = port
    try:
        yield made
    finally:
        controller.stop()
