"""SSH to jobs: the portal's own key, and certificates for people.

All keys follow from SECRET_KEY, so that nothing is stored: the portal has one key, and each person an
authority of their own, whose certificates therefore open nothing for anybody else. With a new
SECRET_KEY, clients fetch the portal's key again, and jobs that run keep their shells if they are
started again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, TypedDict
from uuid import UUID

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
    load_ssh_public_key,
)

from jobs.models import Attempt
from jobs.ports.access import record_opened
from portal.core import clock, vault
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.shapes import Time
from portal.gateway.provider import ShellKeys
from workspaces.access.actors import Actor
from workspaces.models import User

VALID = timedelta(minutes=5)
_EARLIER = timedelta(minutes=1)  # clocks differ
_HOST, _PERSON, _SHELL = "SSH key of the portal", "SSH authority of a person", "shells of jobs"
_EXTENSIONS = (b"permit-port-forwarding", b"permit-pty")


class SshCertificateShape(TypedDict):
    certificate: Annotated[str, "For CertificateFile of OpenSSH."]
    expires_at: Time
    host_key: Annotated[str, "The portal's public key, for known_hosts."]


def shell_secret(key: str) -> str:
    """Return what the shell of an attempt asks for."""
    return vault.sign(key.encode(), _SHELL).hex()


def keys_of(person: UUID) -> ShellKeys:
    """Return what a person may sign in with."""
    host = _key(_HOST, b"")
    pem = host.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return ShellKeys(pem.decode(), (_line(_key(_PERSON, person.bytes)),))


def record_use(attempt: Attempt, person: UUID) -> None:
    """Record that a person opens SSH to an attempt."""
    user = User.objects.get(id=person)
    record_opened(attempt.job, attempt.index, "ssh", user.email)


def certificate_for(*, actor: Actor, public_key: str) -> SshCertificateShape:
    """Sign a key of the actor for some minutes. Raises InvalidInput, NotPermitted."""
    actor.check_acts_for_oneself()
    assert actor.user_id is not None
    try:
        key = load_ssh_public_key(public_key.strip().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InvalidInput.at(
            "public_key", Message("is not a public key of OpenSSH, such as `ssh-ed25519 AAAA…`")
        ) from error
    now = clock.now()
    made = (
        SSHCertificateBuilder()
        .public_key(key)  # type: ignore[arg-type]  # a kind that cannot sign is refused below
        .type(SSHCertificateType.USER)
        .key_id(actor.email.encode())
        .valid_for_all_principals()
        .valid_after((now - _EARLIER).timestamp())
        .valid_before((now + VALID).timestamp())
    )
    for name in _EXTENSIONS:
        made = made.add_extension(name, b"")
    signed = made.sign(_key(_PERSON, actor.user_id.bytes))
    return {
        "certificate": signed.public_bytes().decode(),
        "expires_at": now + VALID,
        "host_key": _line(_key(_HOST, b"")),
    }


def _key(purpose: str, about: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(vault.sign(about, purpose))


def _line(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
