"""Invitations, and one's own sessions."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

invitations = Commands(help="Links by which people come in, each once.")
sessions = Commands(help="Where you are signed in with a browser.")
Id = Annotated[str, Argument(metavar="ID", help="From `list`.")]
Send = Annotated[bool, Option("--send", help="Mail it, too.")]


@invitations.command("list")
def list_invitations(session: Session) -> None:
    """Those that were neither accepted nor revoked."""
    found = session.client.get("invitations")
    rows = ([i["id"], i["email"], i["role"], ", ".join(i["teams"]), i["expires_at"][:10] + (" (expired)" if i["is_expired"] else "")]
            for i in found["items"])  # fmt: skip
    table = Table(["Id", "~Person", "Role", "Teams", "Until"], rows, "Nobody is invited. Invite somebody: muster invitation create EMAIL")
    session.show(found, table, [i["id"] for i in found["items"]])


@invitations.command("create")
def create_invitation(
    session: Session, email: Annotated[str, Argument(metavar="EMAIL")],
    role: Annotated[str, Option("--role", metavar="WORD", help="owner, admin, member or viewer.")] = "member",
    teams: Annotated[list[str] | None, Option("--to", metavar="TEAM[=ROLE]", help="A team to join; may be repeated.")] = None,
    days: Annotated[int, Option("--days", min=1, max=30, metavar="N")] = 7, send: Send = False,
) -> None:  # fmt: skip
    """Invite a person. Standard output carries the link and nothing else; it is shown this once."""
    places = {slug: team_role or "member" for slug, _, team_role in (text.partition("=") for text in teams or ())}
    _told(session, session.client.invitations.create(email, role=role, teams=places, days=days, send=send))


@invitations.command("renew")
def renew_invitation(session: Session, invitation: Id, send: Send = False) -> None:
    """Another link for the same; the former one stops working."""
    _told(session, session.client.invitations.renew(invitation, send=send))


@invitations.command("revoke")
def revoke_invitation(session: Session, invitation: Id) -> None:
    """Its link stops working."""
    session.client.invitations.revoke(invitation)
    session.show({"revoked": invitation}, "That invitation no longer works.", [invitation])


@sessions.command("list")
def list_sessions(session: Session) -> None:
    """Browsers in which you are signed in."""
    found = session.client.sessions.list()
    rows = ([s["id"], s["device"], s["address"], ago(s["last_seen_at"])] for s in found)
    session.show(found, Table(["Id", "~Device", "Address", "Last seen"], rows, "You are signed in nowhere."), [s["id"] for s in found])


@sessions.command("end")
def end_session(
    session: Session, which: Annotated[str, Argument(metavar="[ID]", help="From `muster session list`.")] = "",
    every: Annotated[bool, Option("--all", help="All of them.")] = False,
) -> None:  # fmt: skip
    """Sign out a browser, or all of them; pages that are open there close within seconds."""
    if bool(which) == every:
        raise InvalidInput("Which one? Give its ID, or --all.", code="usage")
    session.client.sessions.end(which)
    session.show({"ended": which or "all"}, "Signed out there." if which else "Signed out everywhere.", [which] if which else [])


def _told(session: Session, made: Json) -> None:
    sent = "The mail is on its way." if made.get("is_sent") else "The mail could not be sent." if made.get("is_sent") is False else ""
    session.say(f"{sent} Hand them the link: it cannot be shown again.".strip())
    session.show(made, made["url"], [made["url"]])
