"""The keys that ID tokens are signed with: made when first needed, kept by the vault, and taken turns with by themselves."""

from __future__ import annotations

from datetime import timedelta

from allauth.idp.oidc.models import PrivateKey
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db.models import Q

from portal.core import clock, vault
from workspaces.models import SigningKey

PURPOSE = SigningKey.SEALED["sealed"]
SIGNS = timedelta(days=90)  # then a new one is published
AHEAD = timedelta(
    hours=2
)  # and signs so much later: longer than clients keep the old list (JWKS_CACHE_CONTROL)
BITS = 3072  # worth 128 bits, as the rest of the portal's cryptography is
AFTER = timedelta(days=1)  # and the old one stays published so long: longer than any ID token lives


def signing_keys() -> list[PrivateKey]:
    """All that are published. There is always one that signs. A key that the vault can no longer read is as if it were gone."""
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
    """A new key; the ones before it end once nothing that they signed can be valid."""
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
