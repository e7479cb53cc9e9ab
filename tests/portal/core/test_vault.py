"""Encryption at rest and key rotation."""

from __future__ import annotations

import pytest

from portal.core import vault


def test_vault_encrypts_and_decrypts():
    stored = vault.encrypt(b"hunter2", "clusters")
    assert b"hunter2" not in stored
    assert vault.decrypt(stored, "clusters") == b"hunter2"


def test_vault_encryption_is_randomized():
    assert vault.encrypt(b"x", "clusters") != vault.encrypt(b"x", "clusters")


def test_vault_secret_is_unreadable_for_another_purpose():
    with pytest.raises(vault.Unreadable):
        vault.decrypt(vault.encrypt(b"x", "clusters"), "mail")


def test_vault_reads_fallback_keys_and_rotates_to_newest(
    settings,
):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "first", []
    stored = vault.encrypt(b"x", "clusters")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "second", ["first"]
    moved = vault.rotate(stored, "clusters")
    settings.SECRET_KEY_FALLBACKS = []
    assert vault.decrypt(moved, "clusters") == b"x"
    with pytest.raises(vault.Unreadable, match="MUSTER_SECRET_KEY_FALLBACKS"):
        vault.decrypt(stored, "clusters")


def test_vault_damaged_secret_is_unreadable():
    stored = bytearray(vault.encrypt(b"x", "clusters"))
    stored[20] ^= 1
    with pytest.raises(vault.Unreadable):
        vault.decrypt(bytes(stored), "clusters")
