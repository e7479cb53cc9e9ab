"""Provide the portal's double, its client, and `muster` called in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from muster import Client, cli, following, transport
from tests.client.portal_double import TOKEN, PortalDouble
from tests.stand_in import StandIn


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


@pytest.fixture
def portal() -> Iterator[PortalDouble]:
    double = PortalDouble()
    yield double
    double.close()


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Isolate tests from the caller's settings, and shorten pauses."""
    for name in ("URL", "TOKEN", "ORG", "TEAM", "JOB_ID"):
        monkeypatch.delenv(f"MUSTER_{name}", raising=False)
    monkeypatch.setenv("MUSTER_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(following, "FAST", 0.002)
    monkeypatch.setattr(following, "SLOW", 0.004)
    real = transport.pause
    monkeypatch.setattr(
        transport,
        "pause",
        lambda attempt, retry_after=None: real(attempt, retry_after) if retry_after else 0.002,
    )


@pytest.fixture
def client(portal: PortalDouble) -> Iterator[Client]:
    with Client(portal.url, TOKEN) as made:
        yield made


@pytest.fixture
def muster(
    portal: PortalDouble,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Done]:
    """`muster("job", "list")`, as the console script runs it, signed in to the double."""
    monkeypatch.setenv("MUSTER_URL", portal.url)
    monkeypatch.setenv("MUSTER_TOKEN", TOKEN)

    def call(*words: str, stdin: str = "") -> Done:
        given = StandIn(sys, stdin=io.StringIO(stdin))
        for module in ("commands.account", "commands.people", "commands.secrets", "streams"):
            monkeypatch.setattr(f"muster.{module}.sys", given)
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        out, err = capsysbinary.readouterr()
        return Done(int(ended.value.code or 0), out, err.decode())

    return call
