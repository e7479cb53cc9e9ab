"""Commands for directories and identity providers."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Exit, Option

from muster.commands.clusters import Options, Unset, check_table, pairs
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {
    "directory": ("directories", 370, "Connect and sync directories and identity providers."),
}
directories = Commands(
    help="Connect, test and sync directories and identity providers (LDAP, OIDC, SAML, SCIM)."
)
Slug = Annotated[str, Argument(metavar="DIRECTORY")]
Domains = Annotated[
    list[str] | None,
    Option(
        "--domain",
        metavar="DOMAIN",
        help="Email domain that it is trusted for (operators). Repeatable.",
    ),
]


@directories.command("list")
def list_directories(session: Session) -> None:
    """List the organization's directories."""
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
    table = Table(
        ["Directory", "Name", "Kind", "For", "State", ">Last seen", "~Problem"],
        rows,
        "No directories yet. Connect one: muster directory connect DIRECTORY KIND --set NAME=VALUE",
    )
    session.show(found, table, [d["slug"] for d in found])


@directories.command("connect")
def connect_directory(
    session: Session,
    slug: Slug,
    kind: Annotated[str, Argument(metavar="KIND", help="ldap, oidc, saml or scim.")],
    options: Options = None,
    name: Annotated[str, Option("--name", metavar="TEXT", help="Display name.")] = "",
    domains: Domains = None,
    is_wide: Annotated[
        bool, Option("--wide", help="For the whole installation (operators).")
    ] = False,
) -> None:
    """Connect a directory or identity provider. Nobody can sign in until it has group rules."""
    made = session.client.directories.connect(
        slug, kind, pairs(options), name, domains=domains or (), is_wide=is_wide
    )
    session.show(made, f"Connected {slug}. Test it: muster directory test {slug}", [slug])


@directories.command("change")
def change_directory(
    session: Session,
    slug: Slug,
    options: Options = None,
    unset: Unset = None,
    name: Annotated[str | None, Option("--name", metavar="TEXT", help="Display name.")] = None,
    domains: Domains = None,
) -> None:
    """Change options. Other options keep their values; --domain replaces all domains."""
    given = {
        "options": {**pairs(options), **dict.fromkeys(unset or [])},
        "name": name,
        "domains": domains,
    }
    made = session.client.directories.change(
        slug, **{key: value for key, value in given.items() if value is not None}
    )
    session.show(made, f"Updated {slug}.", [slug])


@directories.command("disable")
def disable_directory(session: Session, slug: Slug) -> None:
    """Disable sign-in through a directory."""
    session.show(
        session.client.directories.change(slug, is_enabled=False),
        f"Disabled {slug}. To undo: muster directory enable {slug}",
        [slug],
    )


@directories.command("enable")
def enable_directory(session: Session, slug: Slug) -> None:
    """Enable a directory again."""
    session.show(
        session.client.directories.change(slug, is_enabled=True), f"Enabled {slug}.", [slug]
    )


@directories.command("remove")
def remove_directory(session: Session, slug: Slug) -> None:
    """Delete a directory permanently. People keep the roles it granted."""
    session.client.directories.remove(slug)
    session.show({"removed": slug}, f"Removed {slug}.", [slug])


@directories.command("test")
def try_directory(
    session: Session,
    slug: Slug,
    person: Annotated[
        str, Option("--person", metavar="NAME", help="Also find this person and their groups.")
    ] = "",
) -> None:
    """Test the connection and explain what is wrong. Exit code 6 if it fails."""
    found = session.client.directories.test(slug, person=person)
    session.show(found, [found["message"], check_table(found["checks"])], [slug])
    if not found["is_ok"]:
        raise Exit(6)


@directories.command("sync")
def sync_directory(
    session: Session,
    slug: Slug,
    is_dry: Annotated[
        bool, Option("--dry-run", help="Show what would change without changing it.")
    ] = False,
    accepts: Annotated[
        bool, Option("--accept", help="Accept the changes at which the last run was stopped.")
    ] = False,
) -> None:
    """Sync people and roles. Exit code 5 if a safety limit stopped it, 6 if it is unreachable."""
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
        ["Person", "~Change"],
        ([line["who"], line["what"]] for line in run["lines"]),
        note,
        wraps=True,
    )
    session.show(run, table if run["lines"] else note, [run["id"]])
    if run["outcome"] in {"stopped", "failed"}:
        raise Exit(5 if run["outcome"] == "stopped" else 6)


def _state(row: dict[str, object]) -> str:
    return (
        "disabled"
        if not row["is_enabled"]
        else "unreachable"
        if row["trouble"]
        else "ready"
        if row["seen_at"]
        else "not tested"
    )
