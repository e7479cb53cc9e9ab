"""Read the address and credentials of an API server from a kubeconfig or from single fields.

No input may make this process read a file or run a program.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from portal.core import yaml_documents
from portal.core.messages import Message
from portal.core.yaml_documents import BadYaml

_RUNS_PROGRAMS = ("exec", "auth-provider")
_READS_FILES = ("client-certificate", "client-key", "tokenFile", "certificate-authority")


_INSIDE = Path("/var/run/secrets/kubernetes.io/serviceaccount")  # of every pod


class BadAccess(Exception):
    """The credentials cannot be used; the message says why without quoting them.

    `field` is the part at fault: server, authority or token.
    """

    def __init__(self, message: str, field: str = "server"):
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Access:
    """Address and credentials of an API server. Certificates and keys are PEM texts."""

    server: str
    authority: str = ""
    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    server_name: str = ""
    token_file: Path | None = None  # instead of `token`: Kubernetes replaces it every hour

    def bearer(self) -> str:
        """Return the header that authenticates a request, or ""."""
        token = self.token
        if self.token_file:
            token = self.token_file.read_text(encoding="utf-8").strip()
        return f"Bearer {token}" if token else ""

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context; None for http. Raises BadAccess."""
        if urlsplit(self.server).scheme != "https":
            return None
        try:
            context = ssl.create_default_context(cadata=self.authority or None)
            if self.certificate:
                self._load_client(context)
        except (ssl.SSLError, ValueError) as error:
            raise BadAccess(
                Message("A certificate or key cannot be read: {why}. Paste all of it.", why=error),
                "authority",
            ) from error
        return context

    def _load_client(self, context: ssl.SSLContext) -> None:
        """Load the client certificate.

        OpenSSL only reads files: use one that nobody else can open, and delete it at once.
        """
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(f"{self.certificate}\n{self.key}\n")
            file.flush()
            context.load_cert_chain(file.name, password=lambda: "")


def from_fields(server: str, token: str, authority: str) -> Access:
    """Build the access from an address, a token and a CA certificate. Raises BadAccess."""
    return Access(_address(server), authority.strip(), token.strip())


def from_inside() -> Access:
    """Build the access of the pod that this process runs in. Raises BadAccess."""
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
    try:
        authority = (_INSIDE / "ca.crt").read_text(encoding="utf-8")
        (_INSIDE / "token").stat()
    except OSError:
        host = ""
    if not host or not port:
        raise BadAccess(
            Message(
                "The portal does not run in a pod with a service account. Use a kubeconfig, or "
                "address and token."
            )
        )
    host = f"[{host}]" if ":" in host else host
    return Access(f"https://{host}:{port}", authority, token_file=_INSIDE / "token")


def from_kubeconfig(text: str) -> Access:
    """Build the access from the current context of a kubeconfig with embedded certificates.

    Raises BadAccess.
    """
    try:
        read = yaml_documents.load(text)
    except BadYaml as error:
        raise BadAccess(
            Message("The kubeconfig can't be read. {error}", error=error.message)
        ) from error
    config = _mapping(read, "kubeconfig")
    context = _named(config, "contexts", "context", str(config.get("current-context") or ""))
    cluster = _named(config, "clusters", "cluster", str(context.get("cluster") or ""))
    user = _named(config, "users", "user", str(context.get("user") or ""))
    _refuse(cluster, user)
    return Access(
        server=_address(str(cluster.get("server") or "")),
        authority=_data(cluster, "certificate-authority-data"),
        token=str(user.get("token") or ""),
        certificate=_data(user, "client-certificate-data"),
        key=_data(user, "client-key-data"),
        server_name=str(cluster.get("tls-server-name") or ""),
    )


def _refuse(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> None:
    for name in _RUNS_PROGRAMS:
        if user.get(name):
            raise BadAccess(
                Message(
                    "The kubeconfig's `{name}` would run a program on the portal's host; use a "
                    "token or a client certificate.",
                    name=name,
                )
            )
    for name in _READS_FILES:
        if user.get(name) or cluster.get(name):
            raise BadAccess(
                Message(
                    "The kubeconfig's `{name}` refers to a file. Embed its content instead "
                    "(`kubectl config view --raw --flatten`).",
                    name=name,
                )
            )
    if cluster.get("insecure-skip-tls-verify"):
        raise BadAccess(
            Message(
                "The kubeconfig disables verification of the server's certificate. Set its "
                "certificate authority instead."
            )
        )
    if user.get("username") or user.get("password"):
        raise BadAccess(
            Message("Kubernetes no longer supports passwords. Use a token or a client certificate.")
        )


def _address(server: str) -> str:
    parts = urlsplit(server.strip())
    if (
        parts.scheme not in {"https", "http"}
        or not parts.hostname
        or parts.username
        or parts.query
        or parts.fragment
    ):
        raise BadAccess(Message("The server must be an address like https://10.0.0.1:6443."))
    return server.strip().rstrip("/")


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadAccess(Message("The {what} is not a mapping of names to values.", what=what))
    return value


def _named(config: Mapping[str, Any], group: str, kind: str, name: str) -> Mapping[str, Any]:
    rows = config.get(group)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and row.get("name") == name:
            return _mapping(row.get(kind), kind)
    raise BadAccess(Message("The kubeconfig has no {kind} {name}.", kind=kind, name=repr(name)))


def _data(row: Mapping[str, Any], name: str) -> str:
    try:
        return base64.b64decode(str(row.get(name) or ""), validate=True).decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise BadAccess(
            Message("The kubeconfig's `{name}` is not base64 of a PEM text.", name=name)
        ) from error
