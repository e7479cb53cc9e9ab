"""The gateway between hostile clients and hostile apps, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, closing

import pytest

from muster import websocket
from portal.core.errors import NotPermitted, Unavailable
from portal.gateway.provider import NotReady, NotServing
from portal.gateway.tunnels import MOST_SPARE
from tests.rig.gateway import APPS, TOKEN, everything, head, until

OWN = f"web--7-atlas.{APPS}"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
UPGRADE = ("Connection: Upgrade", "Upgrade: websocket")
TCP = (*UPGRADE, "Sec-WebSocket-Protocol: muster-tcp", "Sec-WebSocket-Key: a")


def answer_ok(sock, received):
    while True:
        received.append(until(sock, b"\r\n\r\n"))
        sock.sendall(OK)


def echo(sock, received):
    received.append(until(sock, b"\r\n\r\n"))
    sock.sendall(SWITCHED)
    while part := sock.recv(1 << 16):
        sock.sendall(part)


def silent(sock, received):
    received.append(until(sock, b"\r\n\r\n"))
    sock.recv(1)


def test_requests_on_one_connection_are_judged_one_by_one(serving):
    gateway, app = serving(answer_ok)
    with closing(gateway.connect()) as sock:
        for name in ("a", "b"):
            sock.sendall(head(first=f"GET /_apps/atlas/7/web/{name}?x=%3F HTTP/1.1"))
            assert b"ok" in until(sock, b"ok")
        sock.sendall(head(first="GET /_apps/other/7/web/ HTTP/1.1"))
        assert everything(sock).startswith(b"HTTP/1.1 404")
    assert [one.split(b"\r\n")[0] for one in app.received] == [
        b"GET /a?x=%3F HTTP/1.1",
        b"GET /b?x=%3F HTTP/1.1",
    ]
    assert all(TOKEN.encode() not in one for one in app.received)
    assert len(app.threads) == 2, "both requests used one connection to the app"


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        (("Content-Length: 4", "Transfer-Encoding: chunked"), b"0\r\n\r\n"),
        (("Content-Length: 4", "Content-Length: 5"), b"aaaa"),
        (("Transfer-Encoding: chunked",), b"5\r\nhello!\r\n0\r\n\r\n"),
    ],
)
def test_smuggled_request_never_reaches_the_app(serving, lines, body):
    gateway, app = serving(answer_ok)
    second = head(first="GET /_apps/atlas/7/web/admin HTTP/1.1", is_by_token=False)
    gateway.say(*lines, body=body + second, first="POST /_apps/atlas/7/web/ HTTP/1.1")
    assert not any(b"admin" in one for one in app.received)


def test_second_request_behind_a_body_is_judged(serving):
    gateway, app = serving(answer_ok)
    second = head(first="GET /_apps/atlas/7/web/admin HTTP/1.1", is_by_token=False)
    answer = gateway.say("Content-Length: 4", body=b"aaaa" + second)
    assert answer.count(b"HTTP/1.1 200") == 1 and b"HTTP/1.1 401" in answer
    assert not any(b"admin" in one for one in app.received)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok\r\n\r\n",
        b"nonsense\r\n\r\n",
        SWITCHED,
        b"X" * (80 << 10),
    ],
)
def test_ambiguous_answer_is_a_bad_gateway(serving, answer):
    gateway, _app = serving(lambda sock, _got: (until(sock, b"\r\n\r\n"), sock.sendall(answer)))
    assert gateway.say().startswith(b"HTTP/1.1 502")


def test_bytes_after_an_answer_are_not_the_next_answer(serving):
    def answer(sock, received):
        until(sock, b"\r\n\r\n")
        sock.sendall(OK + OK.replace(b"ok", b"no"))
        sock.recv(1)

    gateway, _app = serving(answer)
    with closing(gateway.connect()) as sock:
        for _ in range(3):
            sock.sendall(head())
            assert b"no" not in until(sock, b"ok")[-4:]


def test_truncated_answer_is_seen_as_truncated(serving):
    gateway, _app = serving(
        lambda sock, _got: (until(sock, b"\r\n\r\n"), sock.sendall(OK.replace(b": 2", b": 9")))
    )
    with closing(gateway.connect()) as sock:
        sock.sendall(head())
        assert until(sock, b"ok").endswith(b"ok") and b"Content-Length: 9" in gateway.say()
        assert ended(sock)


def test_large_bodies_stream_both_ways(serving):
    size = 24 << 20

    def mirror(sock, received):
        data = until(sock, b"\r\n\r\n")
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        part = data.partition(b"\r\n\r\n")[2]
        left = size
        while left:
            sock.sendall(part)
            left -= len(part)
            part = sock.recv(1 << 16) if left else b""

    gateway, _app = serving(mirror)
    with closing(gateway.connect()) as sock:
        body = bytes(range(256)) * (size >> 8)
        sender = threading.Thread(
            target=lambda: sock.sendall(head(f"Content-Length: {size}", "Connection: close") + body)
        )
        sender.start()
        got = everything(sock)
        sender.join()
    assert got.partition(b"\r\n\r\n")[2] == body


def test_slow_client_does_not_fill_memory(serving):
    sent = [0]

    def flood(sock, received):
        until(sock, b"\r\n\r\n")
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        sock.settimeout(1)
        while True:
            sent[0] += sock.send(b"x" * (1 << 16))

    gateway, app = serving(flood)
    with closing(gateway.connect()) as sock:
        sock.sendall(head())
        app.threads[0].join(0.5)
        wait(lambda: len(app.threads) == 2 and not app.threads[1].is_alive())
    assert sent[0] < 16 << 20


def test_slow_head_is_ended(serving):
    gateway, app = serving(answer_ok)
    with closing(gateway.connect()) as sock:
        began = time.monotonic()
        sock.sendall(head()[:20])
        assert ended(sock) and time.monotonic() - began < 5 and not app.received


def test_too_many_connections_of_a_person_are_refused(serving):
    gateway, app = serving(silent, {"of_a_person": 3})
    with ExitStack() as stack:
        for _ in range(3):
            sock = stack.enter_context(closing(gateway.connect()))
            sock.sendall(head())
        wait(lambda: len(app.received) == 3)
        assert gateway.say().startswith(b"HTTP/1.1 429")
        gateway.asked.people["mst_ben"] = "ben"
        with closing(gateway.connect()) as sock:
            sock.sendall(head().replace(TOKEN.encode(), b"mst_ben"))
            wait(lambda: len(app.received) == 4)


def test_client_that_leaves_ends_the_request_of_a_hanging_app(serving):
    gateway, app = serving(silent)
    with closing(gateway.connect()) as sock:
        sock.sendall(head())
        wait(lambda: len(app.received) == 1)
    wait(lambda: not app.threads[1].is_alive())


def test_app_that_does_not_answer_in_time_is_reported(serving):
    gateway, _app = serving(silent, {"answer_seconds": 0.3})
    assert gateway.say().startswith(b"HTTP/1.1 502")


def test_two_hundred_websockets_pass_bytes_and_close_when_access_ends(serving):
    gateway, _app = serving(echo)
    with ExitStack() as stack:
        socks = []
        for number in range(200):
            sock = stack.enter_context(closing(gateway.connect()))
            sock.sendall(head(*UPGRADE, f"Sec-WebSocket-Key: {number}"))
            socks.append(sock)
        for sock in socks:
            assert until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 101")
        for number, sock in enumerate(socks):
            sock.sendall(b"%d;" % number)
        assert all(until(sock, b";") == b"%d;" % n for n, sock in enumerate(socks))
        before = gateway.asked.admitted
        wait(lambda: any(use.streams == 200 for use in gateway.asked.uses))
        gateway.asked.refusal = Unavailable("the database is away")
        time.sleep(0.4)
        socks[0].sendall(b"still;")
        assert until(socks[0], b";") == b"still;", "an outage does not end what was allowed"
        gateway.asked.refusal = NotPermitted("no longer")
        for sock in socks:
            assert ended(sock)
        assert gateway.asked.admitted - before < 60, "one question for all of one person"
    wait(lambda: gateway.asked.uses[-1].streams == 0)


def test_who_may_only_look_sends_nothing_and_is_closed_at_once(serving):
    """The regular check is an hour away: what ends the connection is the change itself."""
    gateway, app = serving(echo, {"check_seconds": 3600, "watch_seconds": 0.05})
    gateway.asked.grant = {"is_read_only": True, "posts": ("/curves",)}
    for first in ("DELETE", "PUT", "PATCH", "POST"):
        said = gateway.say(first=f"{first} /_apps/atlas/7/web/curves2 HTTP/1.1")
        assert said.startswith(b"HTTP/1.1 403"), first
    forward = (*UPGRADE, "Sec-WebSocket-Key: k", "Sec-WebSocket-Protocol: muster-tcp")
    assert gateway.say(*forward).startswith(b"HTTP/1.1 403"), "bytes of TCP can say anything"
    assert not app.received, "nothing has reached the app"
    with closing(gateway.connect()) as sock:
        sock.sendall(
            head(*UPGRADE, "Sec-WebSocket-Key: k", "X-Muster-Access: write", "X-Muster-B: c")
        )
        assert until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 101")
        sock.sendall(b"rm -rf;")
        wait(lambda: any(use.people == ("ada",) for use in gateway.asked.uses))
        gateway.asked.refusal, at = NotPermitted("no longer"), time.monotonic()
        gateway.asked.changes = 1
        assert sock.recv(1) == b"", "what was sent did not come back"
        assert time.monotonic() - at < 1
    seen = b"".join(app.received)
    assert b"rm -rf" not in seen and seen.count(b"X-Muster-") == 1
    assert b"X-Muster-Access: read" in seen
    gateway.asked.refusal = None
    posted = gateway.say("Content-Length: 0", first="POST /_apps/atlas/7/web/curves?a HTTP/1.1")
    assert not posted.startswith(b"HTTP/1.1 403"), "an app that reads by POST"


@pytest.mark.parametrize(
    ("refusal", "status"), [(NotServing("it ended"), 502), (NotReady("soon"), 503)]
)
def test_port_that_does_not_serve_is_a_page_for_browsers(serving, refusal, status):
    gateway, _app = serving(answer_ok)
    gateway.asked.refusal = refusal
    page = by_browser(gateway, "Cookie: muster_app=ticket", "Accept: text/html")
    assert page.startswith(b"HTTP/1.1 %d" % status) and b"<p>log</p>" in page
    assert (b"Refresh: " in page) is (status == 503)
    text = gateway.say()
    assert text.startswith(b"HTTP/1.1 %d" % status) and b"text/plain" in text
    worker = by_browser(gateway, "Cookie: muster_app=ticket", "Service-Worker: script")
    assert (b"registration.unregister" in worker) is (status == 502)


@pytest.mark.parametrize(("has_answered", "status"), [(True, b"502"), (False, b"503")])
def test_refused_connection_says_whether_the_app_ever_answered(serving, has_answered, status):
    gateway, _app = serving(answer_ok)
    gateway.asked.port, gateway.asked.has_answered = closed_port(), has_answered
    assert gateway.say().split()[1] == status


def by_browser(gateway, *lines, first="GET / HTTP/1.1", host=OWN, body=b""):
    with closing(gateway.connect()) as sock:
        sock.sendall(head(*lines, first=first, host=host, is_by_token=False) + body)
        sock.settimeout(5)
        data = until(sock, b"\r\n\r\n")
        try:
            return data + everything(sock)
        except TimeoutError:
            return data


def test_browser_goes_to_the_portal_and_back_with_a_code_that_works_once(serving):
    gateway, app = serving(answer_ok)
    first = by_browser(gateway, "Accept: text/html").decode()
    assert "302" in first and "Location: http://portal/atlas/7?nonce=" in first
    nonce = first.partition("muster_app_nonce=")[2].partition(";")[0]
    go = "GET /_muster/go?code=code HTTP/1.1"
    without = by_browser(gateway, "Accept: text/html", first=go)
    assert without.startswith(b"HTTP/1.1 403"), "another browser cannot use the code"
    answer = by_browser(gateway, f"Cookie: muster_app_nonce={nonce}", first=go).decode()
    assert answer.startswith("HTTP/1.1 303")
    assert f"Location: http://{OWN}//evil/?a=%3F\r\n" in answer, "the host stays"
    assert "Set-Cookie: muster_app=ticket; Path=/; HttpOnly; SameSite=Lax\r\n" in answer
    again = by_browser(gateway, f"Cookie: muster_app_nonce={nonce}", first=go)
    assert again.startswith(b"HTTP/1.1 403")
    seen = by_browser(gateway, "Cookie: muster_app=ticket; theirs=1", "Connection: close")
    assert seen.endswith(b"ok") and b"frame-ancestors 'self'" in seen
    assert b"Cookie: theirs=1\r\n" in app.received[0] and b"ticket" not in app.received[0]


@pytest.mark.parametrize(
    "lines",
    [
        ("Origin: http://evil--8-atlas.apps.localhost",),
        ("Origin: null",),
        ("Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"),
        ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"),
        ("Origin: http://evil.example", *UPGRADE),
    ],
)
def test_other_sites_cannot_use_the_cookie(serving, lines):
    gateway, app = serving(answer_ok)
    refused = by_browser(gateway, "Cookie: muster_app=ticket", *lines)
    assert refused.startswith(b"HTTP/1.1 403") and not app.received


def test_links_from_other_sites_and_requests_of_the_app_itself_pass(serving):
    gateway, _app = serving(answer_ok)
    for lines in (
        ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"),
        (f"Origin: http://{OWN}", "Sec-Fetch-Site: same-origin"),
    ):
        got = by_browser(gateway, "Cookie: muster_app=ticket", *lines, "Connection: close")
        assert got.endswith(b"ok")


def test_app_below_a_path_runs_in_a_sandbox_with_its_ticket_in_the_path(serving):
    gateway, app = serving(answer_ok)
    below = "GET /_apps/atlas/7/web/~ticket/data?x HTTP/1.1"
    got = by_browser(gateway, "Origin: null", "Connection: close", first=below, host="portal")
    assert b"Content-Security-Policy: sandbox allow-scripts" in got and b"same-origin" not in got
    assert b"Access-Control-Allow-Origin: null" in got
    assert app.received[0].startswith(b"GET /data?x HTTP/1.1") and b"ticket" not in app.received[0]
    cookie = by_browser(
        gateway, "Cookie: muster_app=ticket", host="portal", first=below.replace("~ticket/", "")
    )
    assert cookie.startswith(b"HTTP/1.1 401"), "no cookie opens an app on the portal's host"
    script = by_browser(
        gateway,
        "Sec-Fetch-Site: same-origin",
        "Sec-Fetch-Mode: no-cors",
        first=below,
        host="portal",
    )
    assert script.startswith(b"HTTP/1.1 403"), "pages of the portal do not load from apps"


def test_tcp_is_forwarded_over_a_websocket_and_half_closed(serving, monkeypatch):
    """Other frames than the client's own as well: pings, parts of a message, and large ones."""
    monkeypatch.setattr(websocket, "BEAT", 0.01)

    def sum_up(sock, received):
        data = everything(sock)
        sock.sendall(b"%d " % len(data) + data[-300_000:])

    gateway, _app = serving(sum_up)
    url = f"http://127.0.0.1:{gateway.address[1]}/_apps/atlas/7/web"

    async def talk() -> bytes:
        opened = await websocket.connect(url, TOKEN)
        await opened.write(b"12345")
        await asyncio.sleep(0.05)
        await opened.write(b"x" * 200 + b"y" * 300_000)
        await opened.write(b"")
        answer = b""
        while data := await opened.read():
            answer += data
        opened.close()
        with pytest.raises(websocket.NotOpened, match="who"):
            await websocket.connect(url, "mst_other")
        return answer

    assert asyncio.run(talk()) == b"300205 " + b"y" * 300_000
    with closing(gateway.connect()) as sock:
        sock.sendall(head(*TCP, first="GET /_apps/atlas/7/web HTTP/1.1"))
        assert until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 101")
        parts = [(0x02, b"ab"), (0x89, b"?"), (0x00, b""), (0x80, b"c"), (0x82, b"")]
        sock.sendall(
            b"".join(bytes([kind, 0x80 | len(data)]) + b"\0\0\0\0" + data for kind, data in parts)
        )
        got = everything(sock)
        assert b"\x8a\x01?" in got and b"\x82\x053 abc\x82\x00" in got


def test_websocket_that_is_cut_ends_the_connection_to_the_app(serving):
    ends = []

    def notice(sock, received):
        try:
            ends.append(everything(sock))
        except ConnectionResetError:
            ends.append("reset")

    gateway, _app = serving(notice)
    for rest in (b"", b"\x01\x02", b"\x82\x01x"):  # nothing more, no mask, a text without an end
        with closing(gateway.connect()) as sock:
            sock.sendall(head(*TCP, first="GET /_apps/atlas/7/web HTTP/1.1"))
            until(sock, b"\r\n\r\n")
            sock.sendall(b"\x82\x81\0\0\0\0a" + rest)
            sock.shutdown(socket.SHUT_WR)
            wait(lambda: ends)
            ends.clear()


def test_tunnel_carries_requests_and_refuses_other_tokens(serving):
    gateway, _app = serving(answer_ok)
    gateway.asked.is_tunnel = True
    url = f"http://127.0.0.1:{gateway.address[1]}/_apps/tunnel"

    async def dial(client) -> tuple[bytes, bytes]:
        with pytest.raises(websocket.NotOpened, match="who"):
            await websocket.connect(url, "mst_other")
        spare = await websocket.connect(url, TOKEN)
        client.sendall(head("Connection: close"))
        taken = await spare.read()
        await spare.write(b"OK\n")
        request = await spare.read()
        await spare.write(OK)
        spare.close()
        return taken, request

    with closing(gateway.connect()) as client:
        taken, request = asyncio.run(dial(client))
        assert taken == b"OPEN %d\n" % gateway.asked.port
        assert request.startswith(b"GET / ")
        assert everything(client).endswith(b"ok")


def test_newest_spare_connection_is_taken_and_old_ones_are_closed(serving):
    gateway, _app = serving(answer_ok)
    gateway.asked.is_tunnel = True
    url = f"http://127.0.0.1:{gateway.address[1]}/_apps/tunnel"

    async def dial(client) -> None:
        spares = [await websocket.connect(url, TOKEN) for _ in range(MOST_SPARE + 1)]
        with pytest.raises(OSError):
            await spares[0].read()
        client.sendall(head("Connection: close"))
        assert (await spares[-1].read()).startswith(b"OPEN ")
        for spare in spares:
            spare.close()

    with closing(gateway.connect()) as client:
        asyncio.run(dial(client))


def wait(condition, seconds=20):
    until_then = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until_then
        time.sleep(0.02)


def ended(sock) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])
