"""Generated secrets and signing keys have at least 128-bit security."""

from __future__ import annotations

import base64
import math

import jwt
from django.test import Client

from portal.core import vault
from portal.settings import env
from workspaces.credentials.token_format import PREFIX, new_secret


def published() -> list[int]:
    """Return the sizes of the published keys in bits."""
    return sorted(
        jwt.PyJWK(key).key.key_size for key in Client().get("/.well-known/jwks.json").json()["keys"]
    )


def test_signing_key_has_128_bit_security(db):
    assert published() == [3072]


def test_generated_secrets_have_128_bits_of_entropy(settings, tmp_path, monkeypatch):
    body = new_secret().removeprefix(PREFIX)[:-6]
    assert len(body) * math.log2(62) >= 128 and len({new_secret() for _ in range(100)}) == 100
    monkeypatch.delenv("MUSTER_SECRET_KEY", raising=False)
    monkeypatch.setattr(env, "home", lambda: tmp_path)
    assert len(base64.urlsafe_b64decode(env.secret_key() + "==")) * 8 >= 128
    # AES-128 and HMAC-SHA256, half each
    assert len(base64.urlsafe_b64decode(vault._key(settings.SECRET_KEY, "test"))) * 8 == 256
    assert len(vault.sign(b"data", "test")) * 8 == 256
