"""Backends with options and secrets whose behavior the tests control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from schedulers import backends
from schedulers.contract import (
    Capability,
    Launch,
    OutputFolder,
    OutputRetention,
    Probe,
    Rejected,
    Secret,
    Unavailable,
    option,
)
from tests.jobs.conftest import hints_go_nowhere  # noqa: F401  a fixture


@dataclass(frozen=True)
class Config:
    url: str = option("Address", note="https://…")
    token: Secret = option("Token", default=Secret(""))
    transport: str = option("How", default="rest", choices=("rest", "cli"))
    port: int = option("Port", default=6820)
    verify: bool = option("Check the certificate", default=True)
    proxy: str = option("Proxy", default="", is_rare=True)
    key: Secret = option("Key", default=Secret(""), is_long=True)
    quiet: str = ""


class Drainable:
    """Keep the options it was created with; drain any node not called "stuck"."""

    name: ClassVar[str] = "drainable"
    title: ClassVar[str] = "a scheduler"
    capabilities = frozenset({Capability.DRAIN})
    Config = Config
    calls: ClassVar[list[tuple[str, ...]]] = []
    is_away: ClassVar[bool] = False

    def __init__(self, options: Any):
        self.options = options

    @classmethod
    def configured(cls, options: Any) -> Drainable:
        return cls(options)

    def probe(self) -> Probe:
        if self.options["url"] == "broken":
            raise RuntimeError(f"cannot use {self.options['token']}")
        return Probe(
            True,
            f"reached {self.options['url']} with {len(self.options.get('token', ''))} letters of "
            "token",
            "22.05",
        )

    def render(self, launch: Launch) -> str:
        return f"{launch.place.partition} {launch.script}"

    def output_of(self, key: str) -> OutputFolder:
        return OutputFolder(f"/jobs/{key}/out", OutputRetention.WEEK)

    def drain(self, node: str, why: str) -> None:
        if self.is_away:
            raise Unavailable("no answer in 3 s")
        if node == "stuck":
            raise Rejected("no such node")
        self.calls.append(("drain", node, why))

    def resume(self, node: str) -> None:
        self.calls.append(("resume", node))


@pytest.fixture(autouse=True)
def drainable(monkeypatch) -> type[Drainable]:
    monkeypatch.setitem(backends(), "drainable", Drainable)
    monkeypatch.setattr(Drainable, "calls", [])
    return Drainable


@dataclass(frozen=True)
class NeedyConfig:
    key: Secret = option("Key")


class Needy(Drainable):
    """Require a secret."""

    name: ClassVar[str] = "needy"
    Config = NeedyConfig


class Apart(Drainable):
    """Place each node of a job on a machine of its own."""

    name: ClassVar[str] = "apart"
    capabilities = frozenset({Capability.GANG})


class Packing(Drainable):
    """Place several nodes of a job on one machine."""

    name: ClassVar[str] = "packing"
    capabilities = frozenset({Capability.GANG, Capability.PACKS})


@pytest.fixture(autouse=True)
def gangs(monkeypatch) -> None:
    for kind in (Needy, Apart, Packing):
        monkeypatch.setitem(backends(), kind.name, kind)
