"""Commands for roles and access checks."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.options import Commands
from muster.output import Session, Table

COMMANDS = {
    "role": ("roles", 190, "List built-in roles and manage custom roles."),
    "access": ("access", 200, "Explain why a person has or lacks a permission."),
}
roles = Commands(help="List built-in roles and manage custom roles.")
access = Commands(help="Explain why a person has or lacks a permission.")
RoleName = Annotated[str, Argument(metavar="ROLE")]
Permissions = Annotated[
    list[str],
    Option(
        "--permission",
        "-p",
        metavar="NAME",
        help="Permission to grant, such as jobs:submit, or a purpose (researcher, team-lead, curator, "
        "reviewer, support, billing, auditor). Repeatable.",
    ),
]


@roles.command("list")
def list_roles(session: Session) -> None:
    """List all roles."""
    found = session.client.get("roles")
    rows = (
        [
            r["slug"],
            r["name"],
            r["kind"],
            "built-in" if r["is_built_in"] else "custom",
            r["holders"],
            ", ".join(r["permissions"]),
        ]
        for r in found["items"]
    )
    table = Table(["Role", "Name", "Scope", "Type", ">People", "~Permissions"], rows, "No roles.")
    session.show(found, table, [r["slug"] for r in found["items"]])


@roles.command("create")
def create_role(
    session: Session,
    role: RoleName,
    permission: Permissions,
    name: Annotated[str, Option("--name", metavar="TEXT", help="Display name.")] = "",
    kind: Annotated[str, Option("--for", metavar="SCOPE", help="org or team.")] = "org",
) -> None:
    """Create a custom role."""
    made = session.client.roles.create(role, permission, kind=kind, name=name)
    give = (
        f"muster team add TEAM EMAIL --role {role}"
        if kind == "team"
        else f"muster member change EMAIL --role {role}"
    )
    session.show(made, f"Created role {role}. Assign it: {give}", [role])


@roles.command("edit")
def edit_role(
    session: Session,
    role: RoleName,
    permission: Annotated[
        list[str] | None,
        Option("--permission", "-p", metavar="NAME", help="Replaces all permissions. Repeatable."),
    ] = None,
    name: Annotated[str | None, Option("--name", metavar="TEXT", help="Display name.")] = None,
) -> None:
    """Change a role's name or permissions.

    Applies to everyone who has the role.
    """
    row = session.client.roles.change(role, permissions=permission or None, name=name)
    session.show(row, f"Updated {row['name']}: {', '.join(row['permissions'])}.", [role])


@roles.command("delete")
def delete_role(session: Session, role: RoleName) -> None:
    """Delete a role that nobody has."""
    session.client.roles.delete(role)
    session.show({"deleted": role}, f"Deleted role {role}.", [role])


@access.command("why")
def why(
    session: Session,
    email: Annotated[
        str, Argument(metavar="EMAIL", help="Person; - for yourself with this token.")
    ],
    permission: Annotated[str, Argument(metavar="PERMISSION", help="Such as jobs:submit.")],
    job: Annotated[
        str,
        Option(
            "--job", metavar="JOB", help="Check on this job instead of --team or the organization."
        ),
    ] = "",
) -> None:
    """Explain whether a person has a permission.

    Shows the grants and what would allow it.
    """
    found = session.client.access.why(
        permission, user="" if email == "-" else email, team=session.team or "", job=job
    )
    marks = {"grants": "yes", "blocks": "no", "silent": "·"}
    place = f" in team {found['team']}" if found["team"] else ""
    head = (
        f"{found['person']} may {'' if found['allowed'] else 'not '}{found['words']}{place} "
        f"({found['permission']})."
    )
    chain = Table(
        ["", "~Reason"], ([marks[s["effect"]], s["text"]] for s in found["steps"]), "", wraps=True
    )
    ways = [f"It would be allowed with {way['text']}." for way in found["would_allow"]]
    session.show(found, [head, chain, *ways], ["yes" if found["allowed"] else "no"])
