"""Startup messages and refusals."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.process.command import main
from portal.process.lock import HomeLock
from portal.process.sockets import listen
from portal.process.words import Refusal, Welcome


@pytest.fixture
def umask() -> Iterator[None]:
    """Take back the umask that `serve` gives its process."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


def test_welcome_of_first_start_shows_address_and_password():
    text = Welcome(
        "http://127.0.0.1:8000", "ada@atlas.example", "s3cret", Path("var"), is_first=True
    ).text()
    assert "Address   http://127.0.0.1:8000\n" in text
    assert "Password  s3cret    shown this once\n" in text


def test_welcome_of_later_start_explains_password_reset():
    text = Welcome("http://127.0.0.1:8000", "ada@atlas.example", None, Path("var")).text()
    assert "manage.py changepassword ada@atlas.example" in text


def test_port_in_use_is_refused_with_a_suggestion():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(Refusal, match=rf"(?s)Port {port} .*MUSTER_PORT=\d+ make run"):
            listen("127.0.0.1", port)


def test_home_lock_refuses_second_portal(tmp_path):
    first, second = HomeLock(tmp_path), HomeLock(tmp_path)
    first.take()
    with pytest.raises(Refusal, match="already runs on"):
        second.take()
    first.release()
    second.take()
    second.release()


def test_server_mode_without_urls_names_missing_variables(umask, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUSTER_HOME", str(tmp_path))
    monkeypatch.delenv("MUSTER_DATABASE_URL", raising=False)
    monkeypatch.delenv("MUSTER_REDIS_URL", raising=False)
    assert main(["--server"]) == 2
    assert "Server mode needs MUSTER_DATABASE_URL and MUSTER_REDIS_URL" in capsys.readouterr().err


def test_unknown_component_is_refused_with_known_names(umask, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUSTER_HOME", str(tmp_path))
    assert main(["--only", "wbe"]) == 2
    known = "Components: nginx, web, uploads, live, gateway, worker, beat, watcher, agent, prepare."
    assert known in capsys.readouterr().err


def test_home_that_cannot_be_created_is_refused(umask, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MUSTER_HOME", str(tmp_path / "file" / "home"))
    assert main([]) == 2
    assert "Cannot create MUSTER_HOME" in capsys.readouterr().err
