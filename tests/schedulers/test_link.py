"""Test connections to a scheduler's API: complete responses in any form, or an error."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from schedulers import http_connection as links
from schedulers.http_connection import Answer, Connection

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-One: a\r\n\r\nok"


@contextmanager
def answering(
    *answers: bytes, in_bits: bool = False, bit: int = 1, pause: float = 0
) -> Iterator[tuple[Connection, list[bytes]]]:
    """A server that sends these responses, one per request, and closes the connection.

    Responses can be sent in chunks with pauses.
    """
    heard: list[bytes] = []

    def serve() -> None:
        there, _ = listening.accept()
        with there, suppress(BrokenPipeError, ConnectionResetError):
            for answer in answers:
                heard.append(there.recv(1 << 16))
                for at in range(0, len(answer), bit if in_bits else len(answer) or 1):
                    there.sendall(answer[at : at + bit] if in_bits else answer)
                    time.sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        link = Connection(urlsplit(f"http://127.0.0.1:{listening.getsockname()[1]}/x"), timeout=2)
        yield link, heard
        link.close()
        thread.join()


ANSWERS = [
    (WHOLE, b"ok", True),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n",
        b"ok!",
        True,
    ),
    (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
    (b"HTTP/1.1 200 OK\r\n\r\nto the end", b"to the end", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
    (b"HTTP/1.1 100 Continue\r\nX-Two: b\r\n\r\n" + WHOLE, b"ok", True),
]


def test_response_is_complete_for_any_framing(subtests):
    for in_bits in [False, True]:
        for said, data, stays in ANSWERS:
            with subtests.test(in_bits=in_bits, said=said):
                with answering(said, in_bits=in_bits) as (link, _):
                    answer = link.send("GET", "/x", None, {})
                    assert (
                        answer.status,
                        answer.data,
                        link.is_open,
                        "x-two" in answer.headers,
                    ) == (200, data, stays, False)


def test_response_without_body_ends_after_head():
    with answering(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n") as (link, _):
        assert link.send("GET", "/x", None, {}) == Answer(304, {"content-length": "7"}, b"")


HALVES = [
    b"",
    WHOLE[:-1],
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
]


def test_truncated_response_raises(subtests):
    for said in HALVES:
        with subtests.test(said=said):
            with answering(said) as (link, _), pytest.raises(ConnectionResetError):
                link.send("GET", "/x", None, {})


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 99,
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 99,
        b"HTTP/1.1 100 Go on\r\n\r\n" * 5,
    ],
)
def test_trickling_response_times_out(said, monkeypatch):
    monkeypatch.setattr(links, "WHOLE", 0.5)
    with answering(said, in_bits=True, pause=0.1) as (link, _):
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            link.send("GET", "/x", None, {})
        assert 0.4 < time.monotonic() - began < 8  # the whole response takes 11


def test_long_response_extends_timeout(monkeypatch):
    monkeypatch.setattr(links, "WHOLE", 0.2)
    monkeypatch.setattr(links, "RATE", 1 << 14)
    long = b"x" * (1 << 15)
    with answering(
        b"HTTP/1.1 200 OK\r\nContent-Length: 32768\r\n\r\n" + long,
        in_bits=True,
        bit=1 << 13,
        pause=0.1,
    ) as (link, _):
        assert link.send("GET", "/x", None, {}).data == long


def test_timeout_of_response_does_not_affect_next(monkeypatch):
    monkeypatch.setattr(links, "WHOLE", 0.5)
    with answering(*[WHOLE] * 4, in_bits=True, bit=40, pause=0.2) as (link, _):
        assert [link.send("GET", "/x", None, {}).data for _ in range(4)] == [b"ok"] * 4


def test_non_http_response_raises_connection_error():
    with (
        answering(b"SSH-2.0-OpenSSH_9.2\r\n") as (link, _),
        pytest.raises(ConnectionError, match="no HTTP"),
    ):
        link.send("GET", "/x", None, {})


SLIPS = [
    ("/x y", {}),
    ("/x\r\nHost: other", {}),
    ("/x", {"X-Token": "a\r\nX-Other: b"}),
    ("/x", {"X-Token": "a\x00"}),
]


def test_request_smuggling_is_rejected(subtests):
    for path, headers in SLIPS:
        with subtests.test(path=path, headers=headers):
            with answering() as (link, heard):
                with pytest.raises(ValueError, match="holds a"):
                    link.send("POST", path, b"{}", headers)
                assert heard == []


def test_request_has_content_length_and_host():
    with answering(WHOLE) as (link, heard):
        link.send("POST", "/x?a=b", b"{}", {"Content-Type": "application/json"})
        head, _, body = heard[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /x?a=b HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"Content-Length: 2" in head.split(b"\r\n") and body == b"{}"


def test_connection_closed_by_peer_is_not_usable(wait_for):
    with answering(WHOLE) as (link, _):
        link.send("GET", "/x", None, {})
        wait_for(lambda: not link.is_usable())
