"""Commands for invitations, importing people and sign-ins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {
    "invitation": ("invitations", 230, "Manage invitation links."),
    "people": ("people", 240, "Import people from a CSV file."),
    "sign-in": ("sign_ins", 250, "List and end the sign-ins of your browsers."),
}
invitations = Commands(help="Manage invitation links. Each link works once.")
people = Commands(help="Import people from a CSV file.")
sign_ins = Commands(help="List and end the sign-ins of your browsers.")
_PREVIEW = ["Line", "~Person", "Action", "Teams", "Note"]
Id = Annotated[str, Argument(metavar="ID", help="Invitation id from `list`.")]
Send = Annotated[bool, Option("--send", help="Also send it by e-mail.")]


@invitations.command("list")
def list_invitations(session: Session) -> None:
    """List pending invitations."""
    found = session.client.get("invitations")
    rows = (
        [
            i["id"],
            i["email"],
            i["role"],
            ", ".join(i["teams"]),
            i["expires_at"][:10] + (" (expired)" if i["is_expired"] else ""),
        ]
        for i in found["items"]
    )
    table = Table(
        ["Id", "~Person", "Role", "Teams", "Expires"],
        rows,
        "No pending invitations. Create one: muster invitation create EMAIL",
    )
    session.show(found, table, [i["id"] for i in found["items"]])


@invitations.command("create")
def create_invitation(
    session: Session,
    email: Annotated[str, Argument(metavar="EMAIL")],
    role: Annotated[
        str, Option("--role", metavar="ROLE", help="owner, admin, member or viewer.")
    ] = "member",
    teams: Annotated[
        list[str] | None, Option("--to", metavar="TEAM[=ROLE]", help="Team to join. Repeatable.")
    ] = None,
    days: Annotated[
        int, Option("--days", min=1, max=30, metavar="N", help="Days until it expires.")
    ] = 7,
    send: Send = False,
) -> None:
    """Invite a person and print the link, which is shown only once."""
    places = {
        slug: team_role or "member"
        for slug, _, team_role in (text.partition("=") for text in teams or ())
    }
    _show_link(
        session,
        session.client.invitations.create(email, role=role, teams=places, days=days, send=send),
    )


@invitations.command("renew")
def renew_invitation(session: Session, invitation: Id, send: Send = False) -> None:
    """Replace an invitation's link. The old link stops working."""
    _show_link(session, session.client.invitations.renew(invitation, send=send))


@invitations.command("revoke")
def revoke_invitation(session: Session, invitation: Id) -> None:
    """Revoke an invitation."""
    session.client.invitations.revoke(invitation)
    session.show({"revoked": invitation}, "The invitation is revoked.", [invitation])


@people.command("import")
def import_people(
    session: Session,
    file: Annotated[
        str, Argument(metavar="FILE", help="CSV with a header: email, name, role, team.")
    ],
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would change without changing it.")
    ] = False,
    add: Annotated[
        bool, Option("--add", help="Add members at once instead of inviting them.")
    ] = False,
    send: Send = False,
) -> None:
    """Invite people from a CSV file.

    Also adds members to teams; imports all people or none. Prints the invitation links, or the
    planned changes.
    """
    found = session.client.people.import_csv(_read(file), dry_run=dry_run, add=add, send=send)
    for fault in found["faults"]:
        session.echo(f"line {fault['line']}: {fault['what']}")
    counts = ", ".join(f"{number} {kind}" for kind, number in found["counts"].items() if number)
    session.echo(
        f"{'Done' if found['is_done'] else 'Nothing was changed'}: {counts or 'no people'}."
    )
    links = ([link["email"], link["url"]] for link in found["links"])
    rows = (
        [
            str(p["line"]),
            p["email"],
            p["kind"],
            " ".join(f"{slug}={role}" for slug, role in p["teams"].items()),
            p["note"],
        ]
        for p in found["people"]
    )
    shown = (
        Table(["~Person", "Link"], links, "No links.")
        if found["is_done"]
        else Table(_PREVIEW, rows, "No people.")
    )
    session.show(found, shown, [link["url"] for link in found["links"]])
    if found["faults"]:
        raise Exit(2)


def _read(file: str) -> str:
    """Decode a file as spreadsheets write it: UTF-8, UTF-16 with a BOM, else Windows-1252."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}", code="no_file") from error
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


@sign_ins.command("list")
def list_sign_ins(session: Session) -> None:
    """List the browsers in which you are signed in."""
    found = session.client.sign_ins.list()
    rows = ([s["id"], s["device"], s["address"], ago(s["last_seen_at"])] for s in found)
    session.show(
        found,
        Table(["Id", "~Device", "Address", "Last seen"], rows, "You are signed in nowhere."),
        [s["id"] for s in found],
    )


@sign_ins.command("end")
def end_sign_in(
    session: Session,
    which: Annotated[str, Argument(metavar="[ID]", help="Id from `muster sign-in list`.")] = "",
    every: Annotated[bool, Option("--all", help="End all sign-ins.")] = False,
) -> None:
    """Sign out one browser, or all. Open pages disconnect within seconds."""
    if bool(which) == every:
        raise InvalidInput("Give an id, or --all.", code="usage")
    session.client.sign_ins.end(which)
    session.show(
        {"ended": which or "all"},
        "The browser is signed out." if which else "All browsers are signed out.",
        [which] if which else [],
    )


def _show_link(session: Session, made: Json) -> None:
    sent = (
        "The e-mail is on its way."
        if made.get("is_sent")
        else "The e-mail could not be sent."
        if made.get("is_sent") is False
        else ""
    )
    session.echo(f"{sent} Copy the link now; it cannot be shown again.".strip())
    session.show(made, made["url"], [made["url"]])
