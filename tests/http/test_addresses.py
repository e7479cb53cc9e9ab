"""The client address (token networks, rate limits, audit trail) cannot be spoofed."""

from __future__ import annotations

import itertools
from io import BytesIO

import pytest

from monitoring.live.identity import Identify
from portal.asgi import ProtocolRouter
from portal.process.parts import _behind_nginx

PEER = "203.0.113.9"
SPOOFS = [
    {},
    {"x-forwarded-for": "10.0.0.1"},
    {"x-forwarded-for": "10.0.0.1, 10.0.0.2"},
    {"x-forwarded-for": ""},
    {"x-forwarded-for": "10.0.0.1,"},
    {"forwarded": "for=10.0.0.1"},
    {"x-real-ip": "10.0.0.1"},
    {"x-client-ip": "10.0.0.1"},
    {"true-client-ip": "10.0.0.1"},
    {"cf-connecting-ip": "10.0.0.1"},
]


async def client_address(
    kind: str, headers: list[tuple[bytes, bytes]], *, is_behind_proxy: bool = False
) -> str:
    """Return the address that the application behind the ASGI entry point sees."""
    found = []

    async def app(scope, receive, send):
        found.append(scope["way"].address if kind == "websocket" else scope["client"][0])

    router = ProtocolRouter(app, Identify(app), is_behind_proxy=is_behind_proxy)
    await router(
        {
            "type": kind,
            "client": (PEER, 4711),
            "headers": [(b"authorization", b"Bearer mst_x"), *headers],
        },
        None,
        None,
    )
    return found[0]


def raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def test_client_address_without_proxy_ignores_headers():
    for kind, headers in itertools.product(("http", "websocket"), SPOOFS):
        assert await client_address(kind, raw(headers)) == PEER, (kind, headers)


async def test_client_address_behind_proxy_is_last_forwarded_address():
    for kind, headers in itertools.product(("http", "websocket"), SPOOFS):
        result = raw(headers) + [
            (b"x-forwarded-for", b"10.9.9.9, 198.51.100.7")
        ]  # nginx appends its own to the received ones
        assert await client_address(kind, result, is_behind_proxy=True) == "198.51.100.7", (
            kind,
            headers,
        )


@pytest.mark.parametrize("said", ["10.0.0.1, 198.51.100.7", "198.51.100.7", " 198.51.100.7 "])
def test_web_process_uses_last_address_from_nginx(said):
    received = {}
    _behind_nginx(lambda environ, _: received.update(environ) or [])(
        {"HTTP_X_FORWARDED_FOR": said, "REMOTE_ADDR": "127.0.0.1", "wsgi.input": BytesIO()}, None
    )
    assert received["REMOTE_ADDR"] == "198.51.100.7"
    assert "HTTP_X_FORWARDED_FOR" not in received
