"""Commands for requests of every kind that somebody decides."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, clean

COMMANDS = {"approval": ("approvals", 215, "List, decide and comment requests of every kind.")}
approvals = Commands(help="List, decide and comment requests of every kind.")
RequestName = Annotated[
    str, Argument(metavar="KIND/ID", help="Request from `muster approval list`.")
]
Word = Annotated[str, Option("--word", "-m", metavar="TEXT", help="Message to the requester.")]


@approvals.command("list")
def list_approvals(session: Session) -> None:
    """List the open requests that you made or may decide."""
    rows = session.client.approvals.list()
    names = [f"{row['kind']}/{row['id']}" for row in rows]
    table = Table(
        ["Request", "Requester", "~What", "Requested", "You may"],
        (
            [name, row["asker"], row["text"], ago(row["created_at"]), ", ".join(row["may"])]
            for name, row in zip(names, rows, strict=True)
        ),
        "No open requests.",
    )
    session.show({"items": rows, "next": None}, table, names)


@approvals.command("show")
def show_approval(session: Session, request: RequestName) -> None:
    """Show a request and what happened to it."""
    row = session.client.approvals.get(*_split(request))
    lines = (
        f"{ago(event['at'])}  {event['text']}  {event['who']}  {event['word']}".rstrip()
        for event in row["history"]
    )
    session.show(row, clean("\n".join((_text(row), *lines))), [request])


@approvals.command("approve")
def approve(session: Session, request: RequestName, word: Word = "") -> None:
    """Approve a request. It is applied at once."""
    _step(session, request, "approve", word)


@approvals.command("decline")
def decline(session: Session, request: RequestName, word: Word = "") -> None:
    """Decline a request; give the reason with -m."""
    _step(session, request, "decline", word)


@approvals.command("withdraw")
def withdraw(session: Session, request: RequestName) -> None:
    """Withdraw your own request."""
    _step(session, request, "withdraw")


@approvals.command("comment")
def comment(
    session: Session, request: RequestName, text: Annotated[str, Argument(metavar="TEXT")]
) -> None:
    """Comment a request. Who asked, or who decides, is notified."""
    _step(session, request, "comment", text)


def _step(session: Session, request: str, do: str, word: str = "") -> None:
    row = session.client.approvals.step(*_split(request), do, word)
    session.show(row, _text(row), [request])


def _text(row: Json) -> str:
    return clean(f"{row['state'].capitalize()}: {row['text']}, requested by {row['asker']}.")


def _split(request: str) -> tuple[str, str]:
    kind, slash, ident = request.partition("/")
    if not (kind and slash and ident):
        raise InvalidInput("A request is written KIND/ID. See: muster approval list")
    return kind, ident
