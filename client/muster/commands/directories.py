"""Directories."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Exit, Option

from muster.commands.clusters import Options, Unset, pairs
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

directories = Commands(
    help="Connect directories and sign-in services, test them, see what they would change, make people follow them."
)
Slug = Annotated[str, Argument(metavar="DIRECTORY")]
Domains = Annotated[
    list[str] | None,
    Option(
        "--domain",
        metavar="DOMAIN",
        help="An e-mail domain it vouches for; operators only. May be repeated.",
    ),
]


@directories.command("list")
def list_directories(session: Session) -> None:
    """All that the organization has."""
    found = session.client.directories.list()
    rows = (
        [
            d["slug"],
            d["name"],
            d["kind"],
            d["org"] or "whole installation",
            _state(d),
            ago(d["seen_at"]),
            d["trouble"],
        ]
        for d in found
    )
    table = Table(["Directory", "Name", "Kind", "For", "State", ">Seen", "~Trouble"], rows,
                  "No directory yet. Connect one: muster directory connect DIRECTORY KIND --set NAME=VALUE")  # fmt: skip
    session.show(found, table, [d["slug"] for d in found])


@directories.command("connect")
def connect_directory(
    session: Session, slug: Slug, kind: Annotated[str, Argument(metavar="KIND", help="ldap, oidc, saml or scim.")], options: Options = None,
    name: Annotated[str, Option("--name", metavar="TEXT")] = "", domains: Domains = None,
    is_wide: Annotated[bool, Option("--wide", help="For the whole installation; operators only.")] = False,
) -> None:  # fmt: skip
    """Connect a directory or sign-in service. Nobody comes in by it before it has rules."""
    made = session.client.directories.connect(
        slug, kind, pairs(options), name, domains=domains or (), is_wide=is_wide
    )
    session.show(made, f"{slug} is connected. Try it: muster directory test {slug}", [slug])


@directories.command("change")
def change_directory(
    session: Session, slug: Slug, options: Options = None, unset: Unset = None,
    name: Annotated[str | None, Option("--name", metavar="TEXT")] = None, domains: Domains = None,
) -> None:  # fmt: skip
    """Set options; what is not named stays as it is. Domains replace all former ones."""
    given = {
        "options": {**pairs(options), **dict.fromkeys(unset or [])},
        "name": name,
        "domains": domains,
    }
    made = session.client.directories.change(
        slug, **{key: value for key, value in given.items() if value is not None}
    )
    session.show(made, f"{slug} is changed.", [slug])


@directories.command("disable")
def disable_directory(session: Session, slug: Slug) -> None:
    """Nobody signs in by it."""
    session.show(
        session.client.directories.change(slug, is_enabled=False),
        f"{slug} is off. Back: muster directory enable {slug}",
        [slug],
    )


@directories.command("enable")
def enable_directory(session: Session, slug: Slug) -> None:
    """Take it into use again."""
    session.show(
        session.client.directories.change(slug, is_enabled=True), f"{slug} is on again.", [slug]
    )


@directories.command("remove")
def remove_directory(session: Session, slug: Slug) -> None:
    """Remove it for good; people keep the roles that it gave."""
    session.client.directories.remove(slug)
    session.show({"removed": slug}, f"{slug} is removed.", [slug])


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
    stopped = (
        next(
            (run["id"] for run in session.client.directories.runs(slug) if run["outcome"] != "dry"),
            "",
        )
        if accepts
        else ""
    )
    run = session.client.directories.sync(slug, is_dry=is_dry, accept=stopped)
    counts = ", ".join(f"{count:,} {name}" for name, count in run["counts"].items())
    note = f"{run['outcome']}: {run['message'] or counts}"
    table = Table(
        ["Who", "~What"], ([line["who"], line["what"]] for line in run["lines"]), note, wraps=True
    )
    session.show(run, table if run["lines"] else note, [run["id"]])
    if run["outcome"] in {"stopped", "failed"}:
        raise Exit(5 if run["outcome"] == "stopped" else 6)


def _state(row: dict[str, object]) -> str:
    return (
        "off"
        if not row["is_enabled"]
        else "does not answer"
        if row["trouble"]
        else "answers"
        if row["seen_at"]
        else "not asked yet"
    )
