"""Test settings: URL, organization, and where the token is sent."""

from __future__ import annotations

import stat

import pytest

from muster import settings
from muster.settings import Settings

KEPT = Settings("http://portal.example", "mst_kept", "atlas", "vision")


def test_settings_precedence_is_options_environment_file(monkeypatch: pytest.MonkeyPatch):
    settings.save(KEPT)
    monkeypatch.setenv("MUSTER_ORG", "borealis")
    monkeypatch.setenv("MUSTER_TEAM", "north")
    assert settings.load(team="south") == Settings(
        "http://portal.example", "mst_kept", "borealis", "south"
    )


def test_settings_stored_token_is_not_used_for_another_url(monkeypatch: pytest.MonkeyPatch):
    settings.save(KEPT)
    assert settings.load(url="http://evil.example") == Settings("http://evil.example")
    monkeypatch.setenv("MUSTER_URL", "http://portal.example.evil")
    assert settings.load().token == ""


def test_settings_url_ignores_a_trailing_slash():
    settings.save(KEPT)
    assert settings.load(url="http://portal.example/").token == "mst_kept"


def test_settings_file_is_readable_by_its_owner_only():
    file = settings.save(KEPT)
    file.chmod(0o644)
    assert stat.S_IMODE(settings.save(KEPT).stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("odd", ['a"b', "back\\slash", "tab\there", "näme", "'"])
def test_settings_saved_values_are_loaded(odd: str):
    settings.save(Settings("http://p.example", odd, odd, odd))
    assert settings.kept_settings() == Settings("http://p.example", odd, odd, odd)


def test_settings_invalid_file_is_ignored():
    settings.save(KEPT).write_text("url = [not toml")
    assert settings.load() == Settings()
