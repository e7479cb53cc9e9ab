"""Commands for applications that sign in through the portal (OpenID Connect clients)."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {
    "application": (
        "applications",
        380,
        "Manage applications that sign in through the portal (operators).",
    ),
}
applications = Commands(
    help="Manage applications that sign in through the portal with OpenID Connect (operators)."
)
Id = Annotated[str, Argument(metavar="ID", help="Client ID.")]
Addresses = Annotated[
    list[str] | None,
    Option("--address", "-a", metavar="URL", help="Exact redirect URI; repeatable."),
]
_NONE = (
    "No applications. Create one: muster application create grafana -a "
    "https://grafana.example.com/login/generic_oauth"
)


@applications.command("list")
def list_applications(session: Session) -> None:
    """List applications and how many people use each."""
    found = session.client.get("applications")
    rows = (
        [a["client_id"], a["name"], a["people"], ago(a["created_at"]), ", ".join(a["addresses"])]
        for a in found["items"]
    )
    session.show(
        found,
        Table(["Application", "Name", ">People", "Created", "~Redirect URIs"], rows, _NONE),
        [a["client_id"] for a in found["items"]],
    )


@applications.command("show")
def show_application(session: Session, client_id: Id) -> None:
    """Show an application and the settings to enter in it."""
    row = session.client.applications.get(client_id)
    facts = [
        ["Client ID", row["client_id"]],
        ["Name", row["name"]],
        *[["Redirect URI", address] for address in row["addresses"]],
        ["People", row["people"]],
        ["Created", ago(row["created_at"])],
        ["Issuer", session.client.url],
        ["Discovery URL", _discovery_url(session)],
    ]
    session.show(row, Table(["Field", "~Value"], facts, wraps=True), [client_id])


@applications.command("create")
def create_application(
    session: Session,
    client_id: Id,
    address: Addresses = None,
    name: Annotated[
        str, Option("--name", metavar="TEXT", help="Name shown on the sign-in page.")
    ] = "",
) -> None:
    """Create an application.

    Prints its client secret, which is shown only once.
    """
    if not address:
        raise InvalidInput(
            "No redirect URI was given. "
            "Example: --address https://grafana.example.com/login/generic_oauth"
        )
    _show_secret(session, session.client.applications.create(client_id, address, name))


@applications.command("change")
def change_application(
    session: Session,
    client_id: Id,
    address: Addresses = None,
    name: Annotated[
        str | None, Option("--name", metavar="TEXT", help="Name shown on the sign-in page.")
    ] = None,
) -> None:
    """Change the name, or replace all redirect URIs."""
    if not address and name is None:
        raise InvalidInput("Nothing to change. Give --name or --address.")
    row = session.client.applications.change(client_id, name=name, addresses=address or None)
    session.show(row, f"Updated {client_id}: {', '.join(row['addresses'])}.", [client_id])


@applications.command("rotate")
def rotate_secret(session: Session, client_id: Id) -> None:
    """Replace the client secret and print the new one. The old one stops working at once."""
    _show_secret(session, session.client.applications.rotate(client_id))


@applications.command("delete")
def delete_application(session: Session, client_id: Id) -> None:
    """Delete an application with its tokens and consents."""
    session.client.applications.remove(client_id)
    session.show({"deleted": client_id}, f"Deleted {client_id}.", [client_id])


def _show_secret(session: Session, made: Json) -> None:
    session.echo(
        f"Copy the secret now; it cannot be shown again. "
        f"Discovery URL: {_discovery_url(session)}. Client ID: {made['client_id']}."
    )
    session.show(made, made["client_secret"], [made["client_secret"]])


def _discovery_url(session: Session) -> str:
    return f"{session.client.url}/.well-known/openid-configuration"
