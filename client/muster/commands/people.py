"""Invitations, many people at once, and one's own sessions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

invitations = Commands(help="Links by which people come in, each once.")
people = Commands(help="Bring in many people, from a file.")
sessions = Commands(help="Where you are signed in with a browser.")
_WOULD = ["Line", "~Person", "What", "Teams", "Note"]
Id = Annotated[str, Argument(metavar="ID", help="From `list`.")]
Send = Annotated[bool, Option("--send", help="Mail it, too.")]


@invitations.command("list")
def list_invitations(session: Session) -> None:
    """Those that were neither accepted nor revoked."""
    found = session.client.get("invitations")
    rows = ([i["id"], i["email"], i["role"], ", ".join(i["teams"]), i["expires_at"][:10] + (" (expired)" if i["is_expired"] else "")]
            for i in found["items"])  # fmt: skip
    table = Table(
        ["Id", "~Person", "Role", "Teams", "Until"],
        rows,
        "Nobody is invited. Invite somebody: muster invitation create EMAIL",
    )
    session.show(found, table, [i["id"] for i in found["items"]])


@invitations.command("create")
def create_invitation(
    session: Session, email: Annotated[str, Argument(metavar="EMAIL")],
    role: Annotated[str, Option("--role", metavar="WORD", help="owner, admin, member or viewer.")] = "member",
    teams: Annotated[list[str] | None, Option("--to", metavar="TEAM[=ROLE]", help="A team to join; may be repeated.")] = None,
    days: Annotated[int, Option("--days", min=1, max=30, metavar="N")] = 7, send: Send = False,
) -> None:  # fmt: skip
    """Invite a person. Standard output carries the link and nothing else; it is shown this once."""
    places = {
        slug: team_role or "member"
        for slug, _, team_role in (text.partition("=") for text in teams or ())
    }
    _told(
        session,
        session.client.invitations.create(email, role=role, teams=places, days=days, send=send),
    )


@invitations.command("renew")
def renew_invitation(session: Session, invitation: Id, send: Send = False) -> None:
    """Another link for the same; the former one stops working."""
    _told(session, session.client.invitations.renew(invitation, send=send))


@invitations.command("revoke")
def revoke_invitation(session: Session, invitation: Id) -> None:
    """Its link stops working."""
    session.client.invitations.revoke(invitation)
    session.show({"revoked": invitation}, "That invitation no longer works.", [invitation])


@people.command("import")
def import_people(
    session: Session, file: Annotated[str, Argument(metavar="FILE", help="CSV that begins with its columns' names: email, name, role, team.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Only say what would happen.")] = False,
    add: Annotated[bool, Option("--add", help="Make them members at once, instead of inviting them.")] = False, send: Send = False,
) -> None:  # fmt: skip
    """Invite the people of a spreadsheet, and bring members into the teams it names. All of it is done, or nothing. Standard output
    carries the links (email,url), or what would happen."""
    found = session.client.people.import_csv(_read(file), dry_run=dry_run, add=add, send=send)
    for fault in found["faults"]:
        session.say(f"line {fault['line']}: {fault['what']}")
    counts = ", ".join(f"{number} {kind}" for kind, number in found["counts"].items() if number)
    session.say(f"{'Done' if found['is_done'] else 'Nothing was changed'}: {counts or 'nobody'}.")
    links = ([link["email"], link["url"]] for link in found["links"])
    rows = ([str(p["line"]), p["email"], p["kind"], " ".join(f"{slug}={role}" for slug, role in p["teams"].items()), p["note"]]
            for p in found["people"])  # fmt: skip
    shown = (
        Table(["~Person", "Link"], links, "No links.")
        if found["is_done"]
        else Table(_WOULD, rows, "Nobody.")
    )
    session.show(found, shown, [link["url"] for link in found["links"]])
    if found["faults"]:
        raise Exit(2)


def _read(file: str) -> str:
    """As spreadsheets write it: UTF-8 with or without a mark, UTF-16 with one, else the code page of Windows."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", code="no_file") from error
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


@sessions.command("list")
def list_sessions(session: Session) -> None:
    """Browsers in which you are signed in."""
    found = session.client.sessions.list()
    rows = ([s["id"], s["device"], s["address"], ago(s["last_seen_at"])] for s in found)
    session.show(
        found,
        Table(["Id", "~Device", "Address", "Last seen"], rows, "You are signed in nowhere."),
        [s["id"] for s in found],
    )


@sessions.command("end")
def end_session(
    session: Session, which: Annotated[str, Argument(metavar="[ID]", help="From `muster session list`.")] = "",
    every: Annotated[bool, Option("--all", help="All of them.")] = False,
) -> None:  # fmt: skip
    """Sign out a browser, or all of them; pages that are open there close within seconds."""
    if bool(which) == every:
        raise InvalidInput("Which one? Give its ID, or --all.", code="usage")
    session.client.sessions.end(which)
    session.show(
        {"ended": which or "all"},
        "Signed out there." if which else "Signed out everywhere.",
        [which] if which else [],
    )


def _told(session: Session, made: Json) -> None:
    sent = (
        "The mail is on its way."
        if made.get("is_sent")
        else "The mail could not be sent."
        if made.get("is_sent") is False
        else ""
    )
    session.say(f"{sent} Hand them the link: it cannot be shown again.".strip())
    session.show(made, made["url"], [made["url"]])
