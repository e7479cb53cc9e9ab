"""Texts printed at startup: a refusal with its solution, or the address and login."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class Refusal(Exception):
    """The portal does not start; the message says why and what to do."""


@dataclass(frozen=True)
class Welcome:
    """The startup message. `password` is set only by the start that created it."""

    address: str
    email: str
    password: str | None
    home: Path
    is_first: bool = False
    parts: str = ""
    isolation: str = ""
    refusals: Sequence[str] = ()

    def text(self) -> str:
        rows = [
            ("Address", self.address),
            ("Email", self.email),
            ("Password", self._password()),
            ("State", _short(self.home)),
        ]
        if self.parts:
            rows.append(("Parts", self.parts))
        if self.isolation:
            rows.append(("Jobs", self.isolation))
        lines = [f"  {name:<10}{value}" for name, value in rows]
        return "\n".join(
            [
                "",
                "Muster is running.",
                "",
                *lines,
                "",
                "Next: open the address, sign in and press “Run the example”.",
                "Press Ctrl-C to stop the portal; jobs keep running.",
                "",
                *(f"NO JOB CAN RUN YET. {text}" for text in self.refusals),
                *([""] if self.refusals else []),
            ]
        )

    def _password(self) -> str:
        if self.password:
            return f"{self.password}    shown this once"
        if self.is_first:
            return "the one in MUSTER_ADMIN_PASSWORD"
        python = _short(Path(sys.executable))
        return f"as before (forgotten? {python} manage.py changepassword {self.email})"


def say(text: str) -> None:
    print(text, flush=True)


def _short(path: Path) -> str:
    """Return the path relative to the current directory if it lies below."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)
