"""Who one is and where, and who gets to see the token."""

from __future__ import annotations

import stat

import pytest

from muster import settings
from muster.settings import Settings

KEPT = Settings("http://portal.example", "mst_kept", "atlas", "vision")


def test_options_win_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch):
    settings.save(KEPT)
    monkeypatch.setenv("MUSTER_ORG", "borealis")
    monkeypatch.setenv("MUSTER_TEAM", "north")
    assert settings.load(team="south") == Settings(
        "http://portal.example", "mst_kept", "borealis", "south"
    )


def test_the_kept_token_is_never_for_another_portal(monkeypatch: pytest.MonkeyPatch):
    settings.save(KEPT)
    assert settings.load(url="http://evil.example") == Settings("http://evil.example")
    monkeypatch.setenv("MUSTER_URL", "http://portal.example.evil")
    assert settings.load().token == ""


def test_a_slash_at_the_end_is_the_same_portal():
    settings.save(KEPT)
    assert settings.load(url="http://portal.example/").token == "mst_kept"


def test_only_the_owner_may_read_the_file():
    file = settings.save(KEPT)
    file.chmod(0o644)
    assert stat.S_IMODE(settings.save(KEPT).stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("odd", ['a"b', "back\\slash", "tab\there", "näme", "'"])
def test_whatever_is_saved_is_loaded(odd: str):
    settings.save(Settings("http://p.example", odd, odd, odd))
    assert settings.kept_settings() == Settings("http://p.example", odd, odd, odd)


def test_a_broken_file_is_as_good_as_none():
    settings.save(KEPT).write_text("url = [not toml")
    assert settings.load() == Settings()
