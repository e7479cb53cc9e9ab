"""Heads and bodies that two programs could understand differently are refused; ours stays ours."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.gateway.framing import Chunked
from portal.gateway.heads import (
    END,
    BadHead,
    PublicLocation,
    cookie_in,
    parse_request,
    parse_response,
    request_to_app,
    response_to_client,
    token_in,
)

HERE = PublicLocation(b"10.0.0.9", b"https")
BELOW = PublicLocation(b"10.0.0.9", b"http", b"/_apps/atlas/7/web")


def request(*lines: str, first: str = "GET /a?b HTTP/1.1") -> bytes:
    return "\r\n".join((first, "Host: app", *lines)).encode("latin1") + END


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 1", "Content-Length: 1"),
        ("Content-Length: 1", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: +1",),
        ("Content-Length: 0x1",),
        ("Content-Length: 1, 1",),
        ("Content-Length:",),
        ("Content-Length : 1",),
        (" Folded: yes",),
        ("X: a\nContent-Length: 5",),
        ("X: a\rY: b",),
        ("X: \x00",),
        ("Host: other",),
        ("NoColon",),
        (": empty",),
        *([tuple(f"X{n}: 1" for n in range(200))]),
    ],
)
def test_ambiguous_request_head_is_refused(lines):
    with pytest.raises(BadHead):
        parse_request(request(*lines))


@pytest.mark.parametrize(
    "first",
    [
        "GET http://other/ HTTP/1.1",
        "GET a HTTP/1.1",
        "GET  / HTTP/1.1",
        "GET / HTTP/2.0",
        "get / HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
        "GET / x HTTP/1.1",
        "* / HTTP/1.1",
    ],
)
def test_unusual_request_line_is_refused(first):
    with pytest.raises(BadHead):
        parse_request(request(first=first))


def test_chunked_in_http_1_0_is_refused():
    with pytest.raises(BadHead):
        parse_request(request("Transfer-Encoding: chunked", first="POST / HTTP/1.0"))


def test_app_sees_who_asked_but_none_of_our_secrets():
    secret = base64.b64encode(b"ada:mst_secret").decode()
    for authorization in ("Bearer mst_secret", f"Basic {secret}"):
        head = parse_request(
            request(
                f"Authorization: {authorization}",
                "Cookie: muster_session_8000=S; theirs=1; __Host-muster_app=T; muster_csrf=C",
                "cookie: MUSTER_ORG=x",
                "Origin: https://app",
                "X-Forwarded-For: 6.6.6.6",
                "X-Forwarded-Host: evil",
                "Forwarded: for=6.6.6.6",
                "X-Real-IP: 6.6.6.6",
                "Connection: close, X-Private",
                "X-Private: 1",
                "Keep-Alive: 5",
                "Proxy-Authorization: Basic x",
                "Accept: */*",
            )
        )
        assert request_to_app(head, head.target, HERE).decode().split("\r\n") == [
            "GET /a?b HTTP/1.1",
            "Host: app",
            "Cookie: theirs=1",
            "Origin: https://app",
            "Accept: */*",
            "X-Forwarded-For: 10.0.0.9",
            "X-Forwarded-Proto: https",
            "",
            "",
        ]


def test_apps_own_credentials_pass():
    for line in (
        "Authorization: token T",
        "Authorization: Bearer eyJ",
        "Authorization: Basic dTpw",
    ):
        assert line.encode() in request_to_app(parse_request(request(line)), b"/", HERE)
    assert token_in(b"Bearer mst_x") == "mst_x" and token_in(b"Basic !") is None


def test_app_gets_its_secret_unless_the_client_has_one_for_it():
    secret = b"token for-the-app"
    cases = {
        "X: y": secret,
        "Authorization: Bearer mst_ours": secret,
        "Authorization: Bearer of-the-app": b"Bearer of-the-app",
    }
    for line, expected in cases.items():
        sent = parse_request(request_to_app(parse_request(request(line)), b"/", HERE, secret))
        found = [header.value for header in sent.headers if header.name == b"authorization"]
        assert found == [expected]


def test_connection_header_does_not_remove_what_frames_the_message():
    head = parse_request(request("Connection: Content-Length, Cookie", "Content-Length: 3"))
    assert b"Content-Length: 3" in request_to_app(head, b"/", HERE)


def answered(place: PublicLocation, *lines: str) -> list[str]:
    head = parse_response("\r\n".join(("HTTP/1.1 200 OK", *lines)).encode() + END)
    return response_to_client(head, place, (), is_kept=True).decode().split("\r\n")[1:-2]


def test_response_cannot_reach_beyond_its_origin():
    assert answered(
        HERE,
        "Set-Cookie: sid=1; Domain=apps.example.com; Path=/x; HttpOnly",
        "Set-Cookie: muster_session_8000=evil",
        "Set-Cookie: __HOST-muster_app=evil; Path=/",
        "X-Accel-Redirect: /_files/secret",
        "Strict-Transport-Security: max-age=0",
        "Alt-Svc: h2=evil:443",
        "Connection: close",
        "Clear-Site-Data: *",
    ) == ["Set-Cookie: sid=1; Path=/x; HttpOnly", "Clear-Site-Data: *", "Connection: keep-alive"]


def test_response_below_a_path_stays_below_it():
    assert answered(
        BELOW,
        "Set-Cookie: sid=1; Path=/; Domain=evil",
        "Set-Cookie: other=1; path=x",
        "Set-Cookie: __Host-a=1; Path=/; Secure",
        "Service-Worker-Allowed: /",
        "Clear-Site-Data: *",
        "Access-Control-Allow-Origin: *",
        "Location: /login?next=/",
    ) == [
        "Set-Cookie: sid=1; Path=/_apps/atlas/7/web/",
        "Set-Cookie: other=1; Path=/_apps/atlas/7/web/",
        "Location: /_apps/atlas/7/web/login?next=/",
        "Connection: keep-alive",
    ]


def test_cookie_given_twice_counts_as_none():
    assert cookie_in(parse_request(request("Cookie: a=1; b=2")), b"b") == "2"
    assert cookie_in(parse_request(request("Cookie: b=1; b=2")), b"b") == ""


BODY = b"5;x=y\r\nhello\r\n3\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n"


@given(st.lists(st.integers(1, 12), max_size=30))
def test_chunked_body_ends_where_it_ends_however_it_arrives(sizes):
    framing, data = Chunked(), BODY + b"GET /"
    for size in [*sizes, len(data)]:
        used = framing.take(data[:size])
        assert used == min(size, len(data)) or framing.is_complete
        data = data[used:]
        if framing.is_complete:
            break
    assert framing.is_complete and data == b"GET /"


@pytest.mark.parametrize(
    "body",
    [
        b"5\nhello\r\n",
        b"5\r\nhelloX\r\n",
        b"5\r\nhello\n0\r\n",
        b"-1\r\n",
        b"0x5\r\n",
        b" 5\r\n",
        b"\r\n",
        b"5 5\r\n",
        b"fffffffffffffffff\r\n",
        b"0\r\nbad trailer\r\n",
        b"5;" + b"a" * 400,
    ],
)
@pytest.mark.parametrize("step", [1, 100])
def test_malformed_chunks_are_refused(body, step):
    with pytest.raises(BadHead):
        _take_all(body, step)


def _take_all(body: bytes, step: int) -> None:
    framing = Chunked()
    for at in range(0, len(body), step):
        framing.take(body[at : at + step])
