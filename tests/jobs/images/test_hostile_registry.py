"""Malicious or broken registries: no delay, no exhaustion, no access to internal addresses."""

import json
import time

import pytest

from portal.core.addresses import is_open_internet
from portal.core.outbound import Session
from schedulers.images.reference import parse
from schedulers.images.registry import LIMIT, ImageUnreadable, read_image, registry_policy
from tests.rig.hostile import servers
from tests.rig.registry import INDEX, MANIFEST, digest_of


@pytest.fixture
def serve():
    with servers() as start:
        yield start


def read(server, seconds=1.0):
    host = frozenset({server.host})
    return read_image(
        parse(f"{server.host}/team/torch:v1"), registry_policy(host, host, seconds=seconds)
    )


def http(status, body=b"", **headers):
    lines = [
        f"HTTP/1.1 {status} X",
        *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items()),
        f"Content-Length: {len(body)}",
        "Connection: close",
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


def test_manifest_of_ten_gigabytes_is_refused_before_it_is_read(serve):
    server = serve(f"HTTP/1.1 200 OK\r\nContent-Length: {10 << 30}\r\n\r\n".encode())
    with pytest.raises(ImageUnreadable, match="larger than any"):
        read(server)


def test_endless_manifest_is_aborted_at_the_limit(serve):
    sent = []

    def talk(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            sent.append(connection.send(b"{" * 65536))

    server = serve(talk)
    with pytest.raises(ImageUnreadable, match="larger than any"):
        read(server, seconds=10)
    assert sum(sent) < 4 * LIMIT


def test_redirect_loop_is_followed_three_times(serve):
    server = serve(lambda c, _: c.sendall(http(302, Location="/v2/again")))
    with pytest.raises(ImageUnreadable, match="redirects without end"):
        read(server)
    assert len(server.requests) == 4


def test_redirect_to_an_internal_address_is_not_followed_and_gets_no_token(serve):
    inside = serve(http(200, b"{}"))
    server = serve(http(307, Location=f"http://{inside.host}/latest/meta-data"))
    with pytest.raises(ImageUnreadable, match="without encryption"):
        read(server)
    server = serve(http(307, Location=f"https://{inside.host}/latest/meta-data"))
    with pytest.raises(ImageUnreadable, match="not on the open internet"):
        read(server)
    assert inside.requests == []


def test_redirect_to_another_allowed_host_drops_the_token(serve):
    store = serve(http(404))
    server = serve(http(307, Location=f"http://{store.host}/blob"))
    both = frozenset({server.host, store.host})
    with Session(registry_policy(both, both)) as session:
        url, headers = f"http://{server.host}/blob", {"Authorization": "Bearer hush"}
        assert session.get(url, headers=headers).status_code == 404
    assert b"Bearer hush" in server.requests[0]
    assert b"hush" not in store.requests[0]


@pytest.mark.parametrize(
    "talk",
    [
        lambda c, _: c.recv(1),  # silence
        lambda c, _: [
            c.sendall(b"H") or time.sleep(0.05) for _ in range(400)
        ],  # trickles before the headers
        lambda c, _: (
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n")
            or [c.sendall(b" ") or time.sleep(0.05) for _ in range(400)]
        ),
        lambda c, _: (
            c.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            or [c.sendall(b"x") or time.sleep(0.05) for _ in range(400)]
        ),
    ],
    ids=["silent", "drops of a status line", "drops of a body", "drops of a header"],
)
def test_hanging_registry_costs_no_more_than_the_timeout(serve, talk):
    server, begin = serve(talk), time.monotonic()
    with pytest.raises(ImageUnreadable, match=r"within 0\.5 s"):
        read(server, seconds=0.5)
    assert time.monotonic() - begin < 8  # the server would take 20


NO_IMAGES = [
    (b"<html>log in</html>", "no JSON object"),
    (b"[]", "no JSON object"),
    (b"[" * 100_000, "no JSON object"),
    (b"\xff\xfe", "no JSON object"),
    (b"{}", "not a container image"),
    (json.dumps({"schemaVersion": 1, "fsLayers": []}).encode(), "not a container image"),
    (json.dumps({"mediaType": INDEX}).encode(), "names no image"),
    (
        json.dumps(
            {
                "mediaType": INDEX,
                "manifests": [7, {"platform": "x"}, {"platform": {}, "digest": "../../x"}],
            }
        ).encode(),
        "names no image",
    ),
    (
        json.dumps(
            {
                "mediaType": MANIFEST,
                "config": {
                    "mediaType": "application/vnd.oci.image.config.v1+json",
                    "digest": "sha256:../..",
                },
            }
        ).encode(),
        "not a container image",
    ),
    (
        json.dumps(
            {
                "mediaType": MANIFEST,
                "config": {
                    "mediaType": "application/vnd.cncf.helm.config.v1+json",
                    "digest": digest_of(b"x"),
                },
            }
        ).encode(),
        "not a container image",
    ),
]


def test_response_that_is_no_image_is_explained(subtests, serve):
    for body, says in NO_IMAGES:
        with subtests.test(body=body, says=says):
            with pytest.raises(ImageUnreadable, match=says):
                read(serve(http(200, body)))


CONFIGS = [
    b'{"config": {"Env": 7}}',
    b'{"config": []}',
    b'{"config": {"Env": [1, null, "NOEQUALS"]}}',
    b"{}",
]


def test_config_of_unknown_shape_is_an_image_without_facts(subtests, serve):
    for config in CONFIGS:
        with subtests.test(config=config):
            named = {
                "mediaType": "application/vnd.oci.image.config.v1+json",
                "digest": digest_of(config),
            }
            manifest = json.dumps({"mediaType": MANIFEST, "config": named}).encode()
            answers = {True: http(200, config), False: http(200, manifest)}
            server = serve(
                lambda c, asked, answers=answers: c.sendall(answers[b"/blobs/" in asked])
            )
            assert read(server).variants[0].env == {}


def test_blob_with_a_wrong_digest_is_rejected(serve):
    manifest = {
        "mediaType": MANIFEST,
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": digest_of(b"{}"),
        },
    }
    server = serve(
        lambda c, asked: c.sendall(
            http(200, b'{"os": "x"}' if b"/blobs/" in asked else json.dumps(manifest).encode())
        )
    )
    with pytest.raises(ImageUnreadable, match="not what its digest says"):
        read(server)


CHALLENGES = [
    "",
    "Basic realm=x",
    "Bearer",
    'Bearer service="x"',
    'Bearer realm="ftp://x/"',
    'Bearer realm="http://[::1"',
]


def test_unsupported_login_challenge_is_explained(subtests, serve):
    for challenge in CHALLENGES:
        with subtests.test(challenge=challenge):
            with pytest.raises(ImageUnreadable):
                read(serve(http(401, WWW_Authenticate=challenge)))


def test_token_with_a_header_injection_is_not_sent(serve):
    def talk(connection, asked):
        connection.sendall(
            http(200, b'{"token": "x\\r\\nX-Evil: 1"}')
            if b"/token" in asked
            else http(401, WWW_Authenticate=f'Bearer realm="http://{server.host}/token"')
        )

    server = serve(talk)
    with pytest.raises(ImageUnreadable, match="log in"):
        read(server)
    assert not any(b"Evil" in request for request in server.requests)


INSIDE = [
    "127.0.0.1",
    "169.254.169.254",
    "10.1.2.3",
    "192.168.1.1",
    "172.16.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "100.64.0.1",
    "::",
    "::1",
    "fe80::1%eth0",
    "fd00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::7f00:1",
    "fec0::1",
    "2001:0:0a00:0001::",
    "2001:4860::5efe:7f00:1",
    "3fff::1",
    "100::1",
]


def test_internal_address_is_not_public(subtests):
    for address in INSIDE:
        with subtests.test(address=address):
            assert not is_open_internet(address)


OUTSIDE = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


def test_external_address_is_public(subtests):
    for address in OUTSIDE:
        with subtests.test(address=address):
            assert is_open_internet(address)
