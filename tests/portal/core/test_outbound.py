"""Outbound requests are checked, and limited in time and size."""

import socket
import time

import pytest
import requests

from portal.core import addresses
from portal.core.outbound import OutboundPolicy, RequestRefused, Session
from tests.rig.hostile import servers
from tests.rig.slapd import write_certificates
from tests.stand_in import StandIn

HERE = OutboundPolicy(is_private=True, is_plain=True, seconds=2)


@pytest.fixture
def serve():
    with servers() as start:
        yield start


def _http(body=b"{}", status=200, head=b""):
    return (
        b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nContent-Type: application/json\r\nConnection: close\r\n%s\r\n%s"
        % (status, len(body), head, body)
    )


def test_outbound_to_allowed_private_host_is_read(serve):
    server = serve(_http(b'{"a": 1}'))
    assert Session(HERE).get(server.url).json() == {"a": 1}


def test_outbound_to_private_address_is_not_sent(serve):
    server = serve(_http())
    with pytest.raises(RequestRefused, match="not on the open internet"):
        Session(OutboundPolicy(is_plain=True)).get(server.url)
    assert server.requests == []


def test_outbound_without_encryption_is_not_sent(serve):
    server = serve(_http())
    with pytest.raises(RequestRefused, match="https"):
        Session(OutboundPolicy(is_private=True)).get(server.url)
    assert server.requests == []


def test_outbound_resolves_once_and_uses_the_checked_address(serve, monkeypatch):
    server, request = serve(_http()), []

    def resolve(host, port, *_, **__):
        request.append(host)
        return [
            (
                socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                ("127.0.0.1" if len(request) == 1 else "203.0.113.9", port),
            )
        ]

    monkeypatch.setattr(
        addresses,
        "socket",
        StandIn(
            socket,
            getaddrinfo=lambda host, port, *a, **k: (
                resolve(host, port)
                if host == "idp.example"
                else [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
            ),
        ),
    )
    assert (
        Session(HERE).get(f"http://idp.example:{server.host.rpartition(':')[2]}/x").status_code
        == 200
    )
    assert request == ["idp.example"] and b"Host: idp.example" in server.requests[0]


def test_outbound_redirect_is_not_followed(serve):
    inner = serve(_http())
    server = serve(_http(b"", 302, b"Location: %s/\r\n" % inner.url.encode()))
    assert Session(HERE).get(server.url).status_code == 302
    assert inner.requests == []


def test_outbound_response_over_size_limit_is_cut(serve):
    def flood(connection, _):
        connection.sendall(b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with pytest.raises(RequestRefused, match="larger"):
        Session(HERE).get(serve(flood).url)


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 200 X\r\nA: ", b"HTTP/1.1 200 X\r\nContent-Length: 999999\r\n\r\n"]
)
def test_outbound_slow_response_is_cut_after_total_time(serve, said):
    def drip(connection, _):
        connection.sendall(said)
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)

    started = time.monotonic()
    with pytest.raises(RequestRefused, match=r"within 0\.5 s"):
        Session(OutboundPolicy(is_private=True, is_plain=True, seconds=0.5)).get(serve(drip).url)
    assert time.monotonic() - started < 3


def test_outbound_slow_tls_handshake_is_cut(serve):
    def drip(connection, _):
        connection.sendall(b"\x16\x03\x03\x40\x00")
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)

    with pytest.raises(RequestRefused, match=r"within 0\.5 s"):
        Session(OutboundPolicy(is_private=True, seconds=0.5)).get(
            serve(drip).url.replace("http:", "https:")
        )


def test_outbound_ignores_proxy_and_netrc_of_environment(serve, monkeypatch, tmp_path):
    server = serve(_http())
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password planted")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert Session(HERE).get(server.url).status_code == 200
    assert b"Authorization" not in server.requests[0]


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_outbound_malformed_response_is_a_failed_request(serve, said):
    with pytest.raises(requests.RequestException):
        Session(HERE).get(serve(said).url)


def test_outbound_tls_contexts_are_cached_per_ca(tmp_path):
    def trusted(ca):
        session = Session(OutboundPolicy(ca=ca))
        return session.get_adapter("https://a.example").poolmanager.connection_pool_kw[
            "ssl_context"
        ]

    ours = write_certificates(tmp_path)
    assert trusted("") is trusted("") and trusted(ours) is trusted(ours)
    assert "The rig's own CA" not in str(trusted("").get_ca_certs()) and "The rig's own CA" in str(
        trusted(ours).get_ca_certs()
    )
