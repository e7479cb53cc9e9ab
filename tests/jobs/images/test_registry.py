"""Lookups in a real registry."""

import base64
import json
import ssl
import subprocess
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

from schedulers.images.reference import parse
from schedulers.images.registry import ImageUnreadable, read_image, registry_policy
from tests.rig.http_server import LoopbackServer
from tests.rig.registry import start_registry

CUDA = {
    "CUDA_VERSION": "12.4.1",
    "NVIDIA_REQUIRE_CUDA": "cuda>=12.4 brand=tesla,driver>=470,driver<471",
    "SECRET": "not ours to keep",
}


@pytest.fixture
def policy(registry):
    return registry_policy(trusted=frozenset({registry.host}), plain=frozenset({registry.host}))


def test_config_of_a_single_image_is_read(registry, policy):
    digest = registry.push("team/torch", "v1", CUDA)
    image = read_image(parse(f"{registry.host}/team/torch:v1"), policy)
    assert image.digest == digest
    assert image.name == f"{registry.host}/team/torch:v1"
    assert [(v.os, v.arch, v.digest) for v in image.variants] == [("linux", "amd64", digest)]
    assert image.variants[0].env == {
        name: CUDA[name] for name in ("CUDA_VERSION", "NVIDIA_REQUIRE_CUDA")
    }


def test_index_is_followed_for_both_architectures_and_skips_signatures(registry, policy):
    amd = registry.push("team/both", "amd", {"CUDA_VERSION": "12.4"})
    arm = registry.push("team/both", "arm", {"CUDA_VERSION": "13.0"}, arch="arm64")
    power = registry.push("team/both", "power", arch="ppc64le")
    signed = registry.push("team/both", "signed", arch="unknown")
    digest = registry.push_index(
        "team/both", "v1", {"unknown": signed, "ppc64le": power, "arm64": arm, "amd64": amd}
    )
    image = read_image(parse(f"{registry.host}/team/both:v1"), policy)
    assert image.digest == digest
    assert {v.arch: (v.digest, v.env["CUDA_VERSION"]) for v in image.variants} == {
        "amd64": (amd, "12.4"),
        "arm64": (arm, "13.0"),
    }
    assert image.arches == ["amd64", "arm64", "ppc64le"]
    assert image.digests == [digest, amd, arm]


def test_index_without_our_platform_names_its_platforms(registry, policy):
    power = registry.push("team/power", "p", arch="ppc64le")
    registry.push_index("team/power", "v1", {"ppc64le": power})
    image = read_image(parse(f"{registry.host}/team/power:v1"), policy)
    assert image.variants == []
    assert image.arches == ["ppc64le"]


def test_image_is_read_by_its_digest(registry, policy):
    digest = registry.push("team/fixed", "v1", CUDA)
    assert read_image(parse(f"{registry.host}/team/fixed@{digest}"), policy).digest == digest


def test_missing_image_is_explained(registry, policy):
    with pytest.raises(ImageUnreadable, match="the registry has no such image"):
        read_image(parse(f"{registry.host}/team/none:v1"), policy)


def test_local_registry_is_not_queried_unless_the_operator_allows_it(registry, policy):
    registry.push("team/torch", "v1", CUDA)
    reference = parse(f"{registry.host}/team/torch:v1")
    with pytest.raises(ImageUnreadable, match="not on the open internet"):
        read_image(reference, registry_policy())
    with pytest.raises(ImageUnreadable, match="speaks no TLS"):
        read_image(reference, registry_policy(trusted=policy.trusted))
    assert read_image(reference, policy).variants


@pytest.fixture(scope="module")
def certificate(rig):
    """Return a key and a self-signed certificate for 127.0.0.1."""
    key, cert = rig.path / "registry.key", rig.path / "registry.crt"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            cert,
            "-days",
            "1",
            "-subj",
            "/CN=registry",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    return key, cert


def test_registry_with_an_untrusted_certificate_is_rejected(rig, certificate):
    key, cert = certificate
    secure = start_registry(
        rig, more=f"  tls: {{certificate: {cert}, key: {key}}}\n", name="registry-tls"
    )
    reference, policy = (
        parse(f"{secure.host}/team/torch:v1"),
        registry_policy(trusted=frozenset({secure.host})),
    )
    with pytest.raises(ImageUnreadable, match="certificate is not trusted"):
        read_image(reference, policy)
    with pytest.raises(ImageUnreadable, match="has no such image"):
        read_image(reference, replace(policy, ca_file=str(cert)))


def test_missing_credentials_are_distinguished_from_a_missing_image(rig):
    entry = subprocess.run(
        ["openssl", "passwd", "-5", "x"], check=True, capture_output=True, text=True
    ).stdout
    (rig.path / "htpasswd").write_text(f"ada:{entry}")
    closed = start_registry(
        rig,
        more=f"auth: {{htpasswd: {{realm: acme, path: {rig.path}/htpasswd}}}}\n",
        name="registry-closed",
    )
    with pytest.raises(ImageUnreadable, match="only to those who log in"):
        read_image(
            parse(f"{closed.host}/a/b"),
            registry_policy(trusted=frozenset({closed.host}), plain=frozenset({closed.host})),
        )


@pytest.fixture
def token_server(certificate):
    """Run a token server that grants every request; `asked` has the requests."""
    key, cert = certificate
    chain = base64.b64encode(ssl.PEM_cert_to_DER_cert(cert.read_text())).decode()

    class Doorman(BaseHTTPRequestHandler):
        asked: ClassVar[list[dict[str, list[str]]]] = []

        def do_GET(self):
            query = parse_qs(urlsplit(self.path).query)
            self.asked.append(query)
            _, name, _ = query["scope"][0].split(":")
            claims = {
                "iss": "token_server",
                "aud": query["service"][0],
                "exp": int(time.time()) + 60,
                "nbf": int(time.time()) - 60,
                "jti": "1",
                "access": [{"type": "repository", "name": name, "actions": ["pull"]}],
            }
            token = jwt.encode(claims, key.read_bytes(), "RS256", headers={"x5c": [chain]})
            body = json.dumps({"token": token}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with LoopbackServer(Doorman) as server:
        yield server


def test_registry_with_a_token_server_is_asked_again_with_the_token(rig, certificate, token_server):
    realm = f"127.0.0.1:{token_server.server_port}"
    more = (
        f"auth: {{token: {{realm: 'http://{realm}/token', service: reg, issuer: token_server, "
        f"rootcertbundle: {certificate[1]}}}}}\n"
    )
    guarded = start_registry(rig, more=more, name="registry-guarded")
    policy = registry_policy(
        trusted=frozenset({guarded.host, realm}), plain=frozenset({guarded.host, realm})
    )
    with pytest.raises(ImageUnreadable, match="has no such image"):
        read_image(parse(f"{guarded.host}/team/torch:v1"), policy)
    assert token_server.RequestHandlerClass.asked == [
        {"scope": ["repository:team/torch:pull"], "service": ["reg"]}
    ]
    with pytest.raises(ImageUnreadable, match="without encryption"):
        read_image(
            parse(f"{guarded.host}/team/torch:v1"), replace(policy, plain=frozenset({guarded.host}))
        )
