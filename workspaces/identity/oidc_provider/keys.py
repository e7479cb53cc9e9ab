"""Signing keys of ID tokens: created on demand, encrypted by the vault, rotated automatically."""

from __future__ import annotations

from datetime import timedelta

from allauth.idp.oidc.models import PrivateKey
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db.models import Q

from portal.core import clock, vault
from workspaces.models import SigningKey

PURPOSE = SigningKey.SEALED["sealed"]
SIGNS = timedelta(days=90)  # until a new key is published
# Delay before it signs: longer than clients cache the key list (JWKS_CACHE_CONTROL).
AHEAD = timedelta(hours=2)
BITS = 3072  # 128-bit security, as in the rest of the portal
AFTER = timedelta(days=1)  # how long the old key stays published: longer than an ID token is valid


def signing_keys() -> list[PrivateKey]:
    """Return the published keys, of which one can always sign; unreadable keys are skipped."""
    rows = _readable()
    newest = max((row.issued_at for row, _ in rows), default=None)
    if newest is None or newest < clock.now() - SIGNS:
        rotate()
        rows = _readable()
    return [
        PrivateKey(
            pem=pem, not_before=row.signs_from, expires_at=row.ends_at, issued_at=row.signs_from
        )
        for row, pem in rows
    ]


def rotate() -> SigningKey:
    """Create a key; older ones end when nothing that they signed can still be valid."""
    at = clock.now()
    is_first = not _readable()
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    row = SigningKey.objects.create(
        sealed=vault.encrypt(pem, PURPOSE), issued_at=at, signs_from=at if is_first else at + AHEAD
    )
    SigningKey.objects.filter(ends_at=None).exclude(id=row.id).update(
        ends_at=row.signs_from + AFTER
    )
    SigningKey.objects.filter(ends_at__lt=at).delete()
    return row


def _readable() -> list[tuple[SigningKey, str]]:
    found = []
    for row in SigningKey.objects.filter(Q(ends_at=None) | Q(ends_at__gt=clock.now())).order_by(
        "issued_at"
    ):
        try:
            found.append((row, vault.decrypt(bytes(row.sealed), PURPOSE).decode()))
        except vault.Unreadable:
            continue
    return found
