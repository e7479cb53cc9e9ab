"""Secrets at rest, and keys that change."""

from __future__ import annotations

import pytest

from portal.core import vault


def test_what_is_stored_is_read_back_and_does_not_show_the_secret():
    stored = vault.encrypt(b"hunter2", "clusters")
    assert b"hunter2" not in stored
    assert vault.decrypt(stored, "clusters") == b"hunter2"


def test_the_same_secret_is_stored_differently_each_time():
    assert vault.encrypt(b"x", "clusters") != vault.encrypt(b"x", "clusters")


def test_a_secret_of_one_purpose_is_unreadable_for_another():
    with pytest.raises(vault.Unreadable):
        vault.decrypt(vault.encrypt(b"x", "clusters"), "mail")


def test_a_secret_outlives_its_key_while_that_is_kept_and_rotating_moves_it_to_the_new_one(
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


def test_damage_is_told_as_such():
    stored = bytearray(vault.encrypt(b"x", "clusters"))
    stored[20] ^= 1
    with pytest.raises(vault.Unreadable):
        vault.decrypt(bytes(stored), "clusters")
