"""Applications that sign people in through the portal."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

applications = Commands(
    help="Applications that sign people in through the portal (OpenID Connect), for operators."
)
Id = Annotated[str, Argument(metavar="ID", help="The client id, as the application has it.")]
Addresses = Annotated[
    list[str] | None,
    Option(
        "--address", "-a", metavar="URL", help="Where answers may go, to the letter; once for each."
    ),
]
_NONE = "No applications. Make one: muster application create grafana -a https://grafana.example.com/login/generic_oauth"


@applications.command("list")
def list_applications(session: Session) -> None:
    """Those that there are, and how many people agreed to each."""
    found = session.client.get("applications")
    rows = (
        [a["client_id"], a["name"], a["people"], ago(a["created_at"]), ", ".join(a["addresses"])]
        for a in found["items"]
    )
    session.show(
        found,
        Table(["Application", "Name", ">People", "Made", "~Addresses"], rows, _NONE),
        [a["client_id"] for a in found["items"]],
    )


@applications.command("show")
def show_application(session: Session, client_id: Id) -> None:
    """One of them, and what to enter in it."""
    row = session.client.applications.get(client_id)
    facts = [["Client id", row["client_id"]], ["Name", row["name"]], *[["Address", address] for address in row["addresses"]],
             ["People", row["people"]], ["Made", ago(row["created_at"])], ["Issuer", session.client.url],
             ["Described at", _described(session)]]  # fmt: skip
    session.show(row, Table(["Of it", "~Is"], facts, wraps=True), [client_id])


@applications.command("create")
def create_application(
    session: Session, client_id: Id, address: Addresses = None,
    name: Annotated[str, Option("--name", metavar="TEXT", help="What people read when they sign in.")] = "",
) -> None:  # fmt: skip
    """Make one. Standard output carries its secret and nothing else; it is shown this once."""
    if not address:
        raise InvalidInput(
            "Where may answers go? --address https://grafana.example.com/login/generic_oauth, once for each"
        )
    _show_secret(session, session.client.applications.create(client_id, address, name))


@applications.command("change")
def change_application(
    session: Session, client_id: Id, address: Addresses = None,
    name: Annotated[str | None, Option("--name", metavar="TEXT", help="What people read when they sign in.")] = None,
) -> None:  # fmt: skip
    """Another name, or other addresses: all that count from now on."""
    if not address and name is None:
        raise InvalidInput("Name what to change: --name, or --address, once for each")
    row = session.client.applications.change(client_id, name=name, addresses=address or None)
    session.show(row, f"{client_id} is changed: {', '.join(row['addresses'])}.", [client_id])


@applications.command("rotate")
def rotate_secret(session: Session, client_id: Id) -> None:
    """Make another secret; the former ends at once. Standard output carries it and nothing else; it is shown this once."""
    _show_secret(session, session.client.applications.rotate(client_id))


@applications.command("delete")
def delete_application(session: Session, client_id: Id) -> None:
    """Delete one with its tokens and what people agreed to; nobody signs in to it through the portal any more."""
    session.client.applications.remove(client_id)
    session.show({"deleted": client_id}, f"{client_id} is deleted.", [client_id])


def _show_secret(session: Session, made: Json) -> None:
    session.say(
        f"Keep it now: it cannot be shown again. Described at {_described(session)}; client id {made['client_id']}."
    )
    session.show(made, made["client_secret"], [made["client_secret"]])


def _described(session: Session) -> str:
    return f"{session.client.url}/.well-known/openid-configuration"
