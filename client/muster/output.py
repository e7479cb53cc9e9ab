"""The one sink: for people, as JSON, or quiet; and errors that say what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from muster.client import Client, Json, MusterError

_EXITS = {400: 1, 401: 4, 403: 4, 404: 3, 409: 5, 429: 6, 502: 6, 503: 6, 504: 6}
_COLOURS = {"running": "blue", "succeeded": "green", "failed": "red", "canceled": "dim", "queued": "dim", "stopping": "yellow",
            "starting": "yellow", "submitted": "yellow", "dispatching": "yellow"}


@dataclass
class Context:
    """The options that every command takes."""

    url: str | None = None
    token: str | None = None
    org: str | None = None
    team: str | None = None
    json: bool = False
    quiet: bool = False

    @property
    def client(self) -> Client:
        return Client(self.url, self.token, self.org, self.team)


def show(context: Context, data: Any, human: Any = None, quiet: Sequence[Any] = ()) -> None:
    """One document in JSON, ids only when quiet, else `human` (text, or something rich can draw)."""
    if context.json:
        sys.stdout.write(json.dumps(data, indent=2, default=str) + "\n")
    elif context.quiet:
        sys.stdout.write("".join(f"{item}\n" for item in quiet))
    elif isinstance(human, str):
        sys.stdout.write(human + "\n")
    elif human is not None:
        from rich.console import Console

        Console().print(human)


def say(text: str) -> None:
    """For people who watch; never mixed into what is piped on."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def fail(context: Context, error: MusterError) -> int:
    """Tell an error; the exit code for it."""
    if context.json:
        sys.stderr.write(json.dumps(error.body, indent=2, default=str) + "\n")
        return _EXITS.get(error.status, 1)
    say(f"Error: {error.message}")
    for fault in error.errors:
        where = ", ".join(filter(None, [f"line {fault['line']}" if fault.get("line") else "", fault.get("field", "")]))
        if len(error.errors) > 1 or fault.get("line"):
            say(f"  {where}: {fault['message']}" if where else f"  {fault['message']}")
    if error.status == 401:
        say("Make a token on the portal's Tokens page, then: muster login URL")
    return _EXITS.get(error.status, 1)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A plain table; columns that begin with ">" stand to the right."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        made.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        made.add_row(*[str(cell) for cell in row])
    return made


def state(word: str) -> str:
    """A state with its colour."""
    return f"[{_COLOURS.get(word, 'default')}]{word}[/]"


def ago(at: str | None) -> str:
    """"4 min ago"."""
    return f"{span(at)} ago" if at else ""


def span(start: str | None, end: str | None = None) -> str:
    """"12 s", "4 min", "2h 04m", "3d 02h"."""
    if not start:
        return ""
    stop = datetime.fromisoformat(end) if end else datetime.now(UTC)
    seconds = max(int((stop - datetime.fromisoformat(start)).total_seconds()), 0)
    if seconds < 90:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600}h {seconds // 60 % 60:02d}m" if seconds < 172800 else f"{seconds // 86400}d {seconds // 3600 % 24:02d}h"


def size(number: float) -> str:
    """Binary units."""
    for name, unit in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(number) >= unit:
            return f"{number / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{number:g} B"


def amount(value: float | None, unit: str) -> str:
    """A number with its unit."""
    return "–" if value is None else size(value) if unit == "bytes" else f"{value:g} {unit}"


def ends(job: Json) -> str:
    """How a job ended, in a line or three."""
    reason = job.get("reason") or {}
    head = f"#{job['number']} {job['name']}: {job['state']}"
    if job["state"] == "succeeded":
        return f"{head} after {span(job['started_at'], job['finished_at'])}"
    lines = [head + (f". {reason['headline']}" if reason.get("headline") else ""), reason.get("evidence", ""), reason.get("advice", "")]
    return "\n".join(line for line in lines if line)
