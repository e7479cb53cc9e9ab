"""Directories."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Exit, Option

from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

directories = Commands(help="Where people are known from: test a directory, see what it would change, make people follow it.")
Slug = Annotated[str, Argument(metavar="DIRECTORY")]


@directories.command("list")
def list_directories(session: Session) -> None:
    """All that the organization has."""
    found = session.client.directories.list()
    rows = ([d["slug"], d["name"], d["kind"], d["org"] or "whole installation", _state(d), ago(d["seen_at"]), d["trouble"]] for d in found)
    table = Table(["Directory", "Name", "Kind", "For", "State", ">Seen", "~Trouble"], rows, "No directory yet. Connect one on the page Directories.")
    session.show(found, table, [d["slug"] for d in found])


@directories.command("test")
def test_directory(session: Session, slug: Slug) -> None:
    """Ask it, and say what was found or what is wrong. Exit code 6 when it cannot be used."""
    found = session.client.directories.test(slug)
    session.show(found, found["message"], [slug])
    if not found["is_ok"]:
        raise Exit(6)


@directories.command("sync")
def sync_directory(
    session: Session, slug: Slug,
    is_dry: Annotated[bool, Option("--dry-run", help="Only say what would change.")] = False,
    accepts: Annotated[bool, Option("--accept", help="Take what the last run was stopped at.")] = False,
) -> None:  # fmt: skip
    """Make people and roles follow it. Exit code 5 when it was stopped, 6 when the directory did not answer."""
    stopped = next((run["id"] for run in session.client.directories.runs(slug) if run["outcome"] != "dry"), "") if accepts else ""
    run = session.client.directories.sync(slug, is_dry=is_dry, accept=stopped)
    counts = ", ".join(f"{count:,} {name}" for name, count in run["counts"].items())
    note = f"{run['outcome']}: {run['message'] or counts}"
    table = Table(["Who", "~What"], ([line["who"], line["what"]] for line in run["lines"]), note, wraps=True)
    session.show(run, table if run["lines"] else note, [run["id"]])
    if run["outcome"] in {"stopped", "failed"}:
        raise Exit(5 if run["outcome"] == "stopped" else 6)


def _state(row: dict[str, object]) -> str:
    return "off" if not row["is_enabled"] else "does not answer" if row["trouble"] else "answers" if row["seen_at"] else "not asked yet"
