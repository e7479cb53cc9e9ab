"""Forwarding delivers events at least once, in order and signed, with retries and limits."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from portal.core import clock, vault
from portal.core.audit import forwarding, targets
from portal.core.audit.forwarding import PURPOSE, forward, forward_all, state_of
from portal.core.audit.models import AuditForward, AuditPolicy
from portal.core.audit.retention import trim
from portal.core.audit.targets import (
    DeliveryFailed,
    ForwardPolicy,
    deliver,
    message,
    parse_target,
    signature,
)
from portal.core.models import Event
from tests.portal.core.audit.conftest import ORG, seal, write
from tests.rig.http_server import LoopbackServer

SECRET = b"whsec_canary"


class Hook(LoopbackServer):
    """A receiver that records requests; `answers` are its next status codes, then 200."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answers.pop(0) if self.server.answers else 200
        if status == 200:
            self.server.got.append(
                ({name.lower(): value for name, value in self.headers.items()}, body)
            )
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def hook(settings) -> Iterator[Hook]:
    settings.MUSTER_FORWARD_TARGETS = ["127.0.0.1"]
    with Hook() as server:
        yield server


@pytest.fixture
def row(hook, db) -> AuditForward:
    return AuditForward.objects.create(
        chain=ORG,
        target=f"http://{hook.host}/hook?key=1",
        created_by="ada@atlas.example",
        secret=vault.encrypt(SECRET, PURPOSE),
    )


def sent(hook: Hook) -> list[int]:
    return [event["seq"] for _, body in hook.got for event in json.loads(body)["events"]]


def test_webhook_gets_events_in_order_signed_and_identified(row, hook):
    write(250)
    seal()
    assert forward(row) == 250
    assert sent(hook) == list(range(1, 251))
    headers, body = hook.got[0]
    at = int(headers["muster-signature"].partition(",")[0].removeprefix("t="))
    assert headers["muster-signature"] == signature(SECRET, at, body)
    assert headers["muster-delivery"] == f"{row.id}:1-100"
    assert state_of(row)["state"] == "sent up to #250" and state_of(row)["waiting"] == 0
    assert forward(row) == 0


def test_forward_holds_back_unsealed_events(row, hook):
    write(3)
    assert forward(row) == 0 and hook.got == []


def test_forward_failure_is_retried_with_backoff(row, hook):
    write(3)
    seal()
    hook.answers = [500, 503]
    assert forward(row) == 0
    assert (
        (row.tries, row.sent_seq) == (1, 0)
        and "answered 500" in state_of(row)["state"]
        and "3 wait" in state_of(row)["state"]
    )
    first = row.next_at
    assert forward_all() == 0 and row.tries == 1  # not due yet
    forward(row)
    assert row.tries == 2 and row.next_at - clock.now() > (first - clock.now()) * 1.2
    AuditForward.objects.update(next_at=clock.now() - timedelta(seconds=1))
    assert forward_all() == 3
    row.refresh_from_db()
    assert (row.tries, row.trouble, sent(hook)) == (0, "", [1, 2, 3])


def test_forward_failing_for_long_is_given_up(row, hook, monkeypatch):
    monkeypatch.setattr(forwarding, "MOST_TRIES", 3)
    write(1)
    seal()
    hook.answers = [400] * 9
    for _ in range(3):
        forward(row)
    assert row.dead_at is not None and state_of(row)["state"].startswith(
        "given up after 3 tries: 127.0.0.1 answered 400"
    )
    AuditForward.objects.update(next_at=clock.now() - timedelta(seconds=1))
    assert forward_all() == 0 and len(hook.answers) == 6


def test_forward_with_lost_response_is_repeated_with_same_id(row, hook, monkeypatch):
    write(2)
    seal()
    monkeypatch.setattr(forwarding, "_advance", lambda row, seq: None)
    monkeypatch.setattr(forwarding, "TURN", 1)
    forward(row)
    forward(row)
    assert sent(hook) == [1, 2, 1, 2]
    assert len({headers["muster-delivery"] for headers, _ in hook.got}) == 1


def test_forward_reports_events_deleted_before_sending(row, hook):
    write(4)
    Event.objects.update(at=clock.now() - timedelta(days=100))
    seal()
    trim(AuditPolicy.objects.create(chain=ORG, keep_days=90))
    seal()
    assert forward(row) == 1 and sent(hook) == [5]
    assert "#1 to #4 were deleted by retention" in state_of(row)["state"]


def test_forward_skips_events_that_were_tampered_away(row, hook):
    write(3)
    seal()
    Event.objects.filter(data__n=1).delete()
    forward(row)
    assert sent(hook) == [1, 3] and row.sent_seq == 3


def test_forward_with_unreadable_secret_sends_nothing(row, hook, settings):
    write(1)
    seal()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key, long enough to be one", []
    forward(row)
    assert hook.got == [] and "cannot be decrypted" in row.trouble


def test_forward_to_private_address_is_refused():
    for target in (
        "https://127.0.0.1:1/",
        "https://localhost:1/",
        "https://[::1]:1/",
        "https://10.0.0.1/",
        "https://169.254.169.254/",
        "syslog+tls://127.0.0.1:1",
    ):
        with pytest.raises(DeliveryFailed, match="open internet"):
            deliver(target, FACTS, name="x", secret=b"", policy=ForwardPolicy(seconds=1))


def test_forward_unencrypted_to_untrusted_host_is_refused():
    for target in ("http://example.com/", "syslog+tcp://example.com", "syslog+udp://example.com"):
        with pytest.raises(DeliveryFailed, match="without encryption"):
            deliver(target, FACTS, name="x", secret=b"", policy=ForwardPolicy(seconds=1))


def test_invalid_target_is_refused():
    for target in (
        "",
        "ftp://x",
        "https://",
        "https://user:pass@host/",
        "syslog+tls://host/path",
        "https://host:0/",
        "https://host:x/",
        "https://host/#part",
        "//host",
    ):
        with pytest.raises(ValueError, match=r"."):
            parse_target(target)


FACTS = [
    {
        "seq": 7,
        "hash": "ab",
        "at": clock.now(),
        "kind": "access.denied",
        "actor": 'a"b]c\\d\n',
        "address": "10.2.3.4",
        "request_id": "r-1",
        "data": {"path": "/x"},
    }
]
TRUSTED = ForwardPolicy(frozenset({"127.0.0.1"}), seconds=5, portal="muster.example")


def test_syslog_message_follows_rfc_5424():
    text = message(FACTS[0], "muster.example")
    head, _, body = text.partition(b"\xef\xbb\xbf")
    assert head.decode() == (
        f"<108>1 {FACTS[0]['at'].isoformat()} muster.example muster - access.denied "
        '[muster@32473 seq="7" actor="a\\"b\\]c\\\\d " address="10.2.3.4" request="r-1" hash="ab"] '
    )
    assert json.loads(body)["data"] == {"path": "/x"}


def test_syslog_over_tcp_uses_octet_counting():
    with socket.create_server(("127.0.0.1", 0)) as server:
        got: list[bytes] = []

        def take() -> None:
            connection, _ = server.accept()
            with connection:
                while part := connection.recv(65536):
                    got.append(part)

        thread = threading.Thread(target=take)
        thread.start()
        deliver(
            f"syslog+tcp://127.0.0.1:{server.getsockname()[1]}",
            FACTS * 3,
            name="x",
            secret=b"",
            policy=TRUSTED,
        )
        thread.join(5)
    stream, count = b"".join(got), 0
    while stream:
        length, _, rest = stream.partition(b" ")
        assert rest[: int(length)].startswith(b"<108>1 ")
        stream, count = rest[int(length) :], count + 1
    assert count == 3


def test_syslog_over_udp_sends_one_datagram_per_event():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        deliver(
            f"syslog+udp://127.0.0.1:{server.getsockname()[1]}",
            FACTS * 2,
            name="x",
            secret=b"",
            policy=TRUSTED,
        )
        assert [server.recv(65536)[:7] for _ in range(2)] == [b"<108>1 "] * 2


def test_forward_to_closed_port_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for scheme in ("http", "syslog+tcp"):
        with pytest.raises(DeliveryFailed, match="does not answer"):
            deliver(f"{scheme}://127.0.0.1:{port}", FACTS, name="x", secret=b"", policy=TRUSTED)


def test_slow_webhook_is_cut_off():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    while True:
                        connection.sendall(b"H")
                        threading.Event().wait(0.05)
                except OSError:
                    return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        began = clock.monotonic()
        with pytest.raises(DeliveryFailed):
            deliver(
                f"http://127.0.0.1:{server.getsockname()[1]}/",
                FACTS,
                name="x",
                secret=b"",
                policy=ForwardPolicy(frozenset({"127.0.0.1"}), seconds=0.5),
            )
        assert clock.monotonic() - began < 3
        thread.join(3)


@pytest.fixture
def tls(tmp_path) -> ssl.SSLContext:
    """Return a TLS server context with a self-signed certificate for 127.0.0.1."""
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=log",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            tmp_path / "key.pem",
            "-out",
            tmp_path / "cert.pem",
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


def _listen(server: socket.socket, tls: ssl.SSLContext, got: list[bytes]) -> threading.Thread:
    def take() -> None:
        connection, _ = server.accept()
        try:
            with tls.wrap_socket(connection, server_side=True) as secure:
                while part := secure.recv(65536):
                    got.append(part)
        except OSError:
            return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return thread


def test_syslog_over_tls_with_trusted_certificate_is_sent(tls, tmp_path):
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = _listen(server, tls, got)
        policy = ForwardPolicy(frozenset({"127.0.0.1"}), str(tmp_path / "cert.pem"), seconds=5)
        deliver(
            f"syslog+tls://127.0.0.1:{server.getsockname()[1]}",
            FACTS,
            name="x",
            secret=b"",
            policy=policy,
        )
        thread.join(5)
    assert b"<108>1 " in b"".join(got)


@pytest.mark.parametrize("scheme", ["https", "syslog+tls"])
def test_untrusted_certificate_is_refused(tls, scheme):
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = _listen(server, tls, got)
        with pytest.raises(DeliveryFailed, match="certificate is not trusted"):
            deliver(
                f"{scheme}://127.0.0.1:{server.getsockname()[1]}",
                FACTS,
                name="x",
                secret=b"",
                policy=TRUSTED,
            )
        thread.join(5)
    assert got == []


def test_forward_policy_comes_from_settings(settings):
    settings.MUSTER_FORWARD_TARGETS = ["LOG.example:6514"]
    assert targets.is_trusted("syslog+tls://log.example:6514", forwarding.policy())
    assert not targets.is_trusted("syslog+tls://log.example:6515", forwarding.policy())
