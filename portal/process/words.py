"""What a start says to the person at the terminal: a refusal with the way out of it, or the address and the login."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


class Refusal(Exception):
    """The portal does not start. The message says why and what to do."""


@dataclass(frozen=True)
class Welcome:
    """What the first lines say. `password` is there only at the start that made it."""

    address: str
    email: str
    password: str | None
    home: Path
    is_first: bool = False
    parts: str = ""
    isolation: str = ""

    def text(self) -> str:
        rows = [
            ("Address", self.address),
            ("E-mail", self.email),
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
                "Ctrl-C stops the portal; jobs keep running and are found again.",
                "",
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
    """Relative where that is shorter, as a person would type it."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)
