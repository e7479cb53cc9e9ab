"""Test which certificates, names and addresses the Kubernetes backend trusts.

Against a double, with certificates made for the test.
"""

from __future__ import annotations

import base64
import ssl
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import State
from tests.rig.http_server import LoopbackServer
from tests.rig.kubernetes_double import Double
from tests.schedulers.kubernetes_stage import launch, state_of

NAME = "kubernetes.test"


def certificate(folder: Path) -> tuple[str, Path]:
    """Create a self-signed certificate for NAME; returns it and a file with certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    at = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(days=1))
        .not_valid_after(at + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(pem + secret)
    return pem.decode(), folder / "server.pem"


def kubeconfig(server: str, authority: str, name: str, token: str) -> str:
    data = base64.b64encode(authority.encode()).decode()
    return (
        f"current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: "
        f"[{{name: u, user: {{token: {token}}}}}]\n"
        f"clusters: [{{name: c, cluster: {{server: '{server}', certificate-authority-data: "
        f"{data}, tls-server-name: '{name}'}}}}]"
    )


@pytest.fixture
def safe(double: Double, tmp_path: Path) -> tuple[Double, str]:
    """A double behind TLS, and the CA to trust."""
    authority, file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    double._server.socket = context.wrap_socket(double._server.socket, server_side=True)
    return double, authority


def test_tls_trusts_certificate_of_configured_ca_and_name(safe, wait_for):
    double, authority = safe
    text = kubeconfig(double.url.replace("http", "https"), authority, NAME, double.token)
    backend = KubernetesBackend.configured({"kubeconfig": text, "image": "local/bash:1"})
    assert backend.probe().is_ok
    assert backend.inventory()
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    assert backend.exec(key, ["echo", "here"]) == (0, b"here\n")


@pytest.mark.parametrize(
    ("is_known", "name", "words"), [(True, "another.test", "match"), (False, NAME, "not trusted")]
)
def test_tls_rejects_other_name_or_ca_with_message(safe, tmp_path, is_known, name, words):
    double, authority = safe
    (other := tmp_path / "other").mkdir()
    text = kubeconfig(
        double.url.replace("http", "https"),
        authority if is_known else certificate(other)[0],
        name,
        double.token,
    )
    probe = KubernetesBackend.configured({"kubeconfig": text}).probe()
    assert not probe.is_ok and words in probe.message


def test_server_with_path_prefix_is_reached(double):
    backend = KubernetesBackend.configured(
        {"server": f"{double.url}/k8s/clusters/one/", "token": double.token}
    )
    backend.probe()
    assert double.asked[0] == "GET /k8s/clusters/one/version"


def test_redirect_is_not_followed_with_token(double):
    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(307)
            self.send_header("Location", f"{double.url}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with LoopbackServer(Redirecting) as server:
        options = {"server": server.url, "token": double.token}
        probe = KubernetesBackend.configured(options).probe()
    assert not probe.is_ok and double.asked == []
