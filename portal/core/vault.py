"""Encrypt small secrets at rest with keys derived from SECRET_KEY.

Secrets stay readable while an older key is kept in SECRET_KEY_FALLBACKS, so that keys can be
rotated.
"""

from __future__ import annotations

import base64
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class Unreadable(RuntimeError):
    """Encrypted under a key that is no longer kept, for another purpose, or damaged."""


def encrypt(plain: bytes, purpose: str) -> bytes:
    """Encrypt under the newest key. Each `purpose` has a key of its own."""
    return _fernet(purpose).encrypt(plain)


def decrypt(stored: bytes, purpose: str) -> bytes:
    """Decrypt a secret of this purpose. Raises Unreadable."""
    try:
        return _fernet(purpose).decrypt(bytes(stored))
    except InvalidToken:
        raise Unreadable(
            "a stored secret cannot be decrypted: add the former secret key to "
            "MUSTER_SECRET_KEY_FALLBACKS, or enter the secret again"
        ) from None


def rotate(stored: bytes, purpose: str) -> bytes:
    """Encrypt the secret again under the newest key. Raises Unreadable."""
    return encrypt(decrypt(stored, purpose), purpose)


def is_newest(stored: bytes, purpose: str) -> bool:
    """Return whether it is encrypted under the newest key."""
    try:
        Fernet(_key(settings.SECRET_KEY, purpose)).decrypt(bytes(stored))
    except InvalidToken:
        return False
    return True


def sign(data: bytes, purpose: str) -> bytes:
    """Return the HMAC-SHA256 of the data, 32 bytes."""
    return hmac.digest(_key(settings.SECRET_KEY, purpose), data, "sha256")


def is_signed(data: bytes, mac: bytes, purpose: str) -> bool:
    """Return whether the data was signed under the current key or one that is still kept."""
    return any(
        hmac.compare_digest(hmac.digest(_key(secret, purpose), data, "sha256"), bytes(mac))
        for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )


def _fernet(purpose: str) -> MultiFernet:
    return MultiFernet(
        [
            Fernet(_key(secret, purpose))
            for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        ]
    )


def _key(secret: str, purpose: str) -> bytes:
    derived = HKDF(
        algorithm=hashes.SHA256(), length=32, salt=None, info=f"muster vault: {purpose}".encode()
    )
    return base64.urlsafe_b64encode(derived.derive(secret.encode()))
