"""Roles, and why somebody may or may not."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.options import Commands
from muster.output import Session, Table

roles = Commands(help="Roles, built-in and of the organization's own making.")
access = Commands(help="Why somebody may or may not.")
RoleName = Annotated[str, Argument(metavar="ROLE")]
Permissions = Annotated[
    list[str],
    Option(
        "--permission", "-p", metavar="NAME", help="What it grants, as jobs:submit; once for each."
    ),
]


@roles.command("list")
def list_roles(session: Session) -> None:
    """All roles that there are."""
    found = session.client.get("roles")
    rows = (
        [
            r["slug"],
            r["name"],
            r["kind"],
            "built-in" if r["is_built_in"] else "own",
            r["holders"],
            ", ".join(r["permissions"]),
        ]
        for r in found["items"]
    )
    table = Table(["Role", "Called", "For", "Made", ">Held", "~May"], rows, "No roles.")
    session.show(found, table, [r["slug"] for r in found["items"]])


@roles.command("create")
def create_role(
    session: Session, role: RoleName, permission: Permissions,
    name: Annotated[str, Option("--name", metavar="TEXT", help="What people read.")] = "",
    kind: Annotated[str, Option("--for", metavar="WORD", help="org or team.")] = "org",
) -> None:  # fmt: skip
    """Make a role of the organization's own."""
    made = session.client.roles.create(role, permission, kind=kind, name=name)
    give = (
        f"muster team add TEAM EMAIL --role {role}"
        if kind == "team"
        else f"muster member change EMAIL --role {role}"
    )
    session.show(made, f"The role {role} is there. Give it: {give}", [role])


@roles.command("edit")
def edit_role(
    session: Session, role: RoleName,
    permission: Annotated[list[str] | None, Option("--permission", "-p", metavar="NAME", help="All that it grants from now on.")] = None,
    name: Annotated[str | None, Option("--name", metavar="TEXT")] = None,
) -> None:  # fmt: skip
    """Another name or other permissions, for everybody who holds it."""
    row = session.client.roles.change(role, permissions=permission or None, name=name)
    session.show(row, f"{row['name']} may now: {', '.join(row['permissions'])}.", [role])


@roles.command("delete")
def delete_role(session: Session, role: RoleName) -> None:
    """Delete a role that nobody holds."""
    session.client.roles.delete(role)
    session.show({"deleted": role}, f"The role {role} is gone.", [role])


@access.command("why")
def why(
    session: Session,
    email: Annotated[
        str, Argument(metavar="EMAIL", help="Of whom; - for oneself, with this token.")
    ],
    permission: Annotated[str, Argument(metavar="PERMISSION", help="As jobs:submit.")],
    job: Annotated[
        str,
        Option(
            "--job", metavar="JOB", help="About this job; else about --team, or the organization."
        ),
    ] = "",
) -> None:
    """Why that person may, or may not: the chain of grants, and what would allow it."""
    found = session.client.access.why(
        permission, user="" if email == "-" else email, team=session.team or "", job=job
    )
    marks = {"grants": "yes", "blocks": "no", "silent": "·"}
    place = f" in team {found['team']}" if found["team"] else ""
    head = f"{found['person']} may {'' if found['allowed'] else 'not '}{found['words']}{place} ({found['permission']})."
    chain = Table(
        ["", "~Because"], ([marks[s["effect"]], s["text"]] for s in found["steps"]), "", wraps=True
    )
    ways = [f"It would be allowed with {way['text']}." for way in found["would_allow"]]
    session.show(found, [head, chain, *ways], ["yes" if found["allowed"] else "no"])
