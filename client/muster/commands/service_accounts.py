"""Commands for service accounts and their tokens."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.commands.account import comma_separated, token_table
from muster.options import Commands
from muster.output import USE, Column, Listing, Session
from muster.wording import ago

COMMANDS = {
    "service-account": ("accounts", 270, "Manage service accounts and their tokens."),
}
accounts = Commands(help="Manage service accounts and their tokens.")
Name = Annotated[str, Argument(metavar="NAME")]


ACCOUNTS = Listing(
    "ListedServiceAccountShape",
    "name",
    (
        Column("Account", "name"),
        Column("Role", "role"),
        Column("Teams", "teams", lambda teams: ", ".join(team["slug"] for team in teams)),
        Column(">Tokens", "tokens"),
        *USE,
        Column("Last used", "last_used_at", lambda at: ago(at) or "never"),
        Column("~Purpose", "note"),
    ),
)


@accounts.command("list")
def list_accounts(session: Session) -> None:
    """List service accounts."""
    session.show_list(
        session.client.get("service-accounts"),
        ACCOUNTS,
        "No service accounts. Create one: muster service-account create NAME",
    )


@accounts.command("create")
def create_account(
    session: Session,
    name: Name,
    role: Annotated[
        str, Option("--role", metavar="ROLE", help="admin, member or viewer; not above your own.")
    ] = "member",
    note: Annotated[str, Option("--note", metavar="TEXT", help="Purpose of the account.")] = "",
) -> None:
    """Create a service account."""
    made = session.client.service_accounts.create(name, note=note, role=role)
    session.show(
        made, f"Created {name}. Add it to a team: muster team add TEAM {made['email']}", [name]
    )


@accounts.command("delete")
def delete_account(session: Session, name: Name) -> None:
    """Delete a service account. Its tokens stop working at once; its jobs remain."""
    session.client.service_accounts.remove(name)
    session.show({"deleted": name}, f"Deleted {name} and revoked its tokens.", [name])


@accounts.command("tokens")
def list_tokens(session: Session, name: Name) -> None:
    """List a service account's tokens."""
    found = session.client.get(f"service-accounts/{name}/tokens")
    table = token_table(
        found["items"], f"No tokens. Create one: muster service-account token {name} TOKEN-NAME"
    )
    session.show(found, table, [t["id"] for t in found["items"]])


@accounts.command("token")
def create_token(
    session: Session,
    name: Name,
    token: Annotated[str, Argument(metavar="TOKEN-NAME", help="What the token is for.")],
    scopes: Annotated[
        str,
        Option(
            "--scopes",
            metavar="SCOPES",
            help="A purpose (ci, tracking, read-only), all, or comma-separated permissions.",
        ),
    ] = "all",
    days: Annotated[
        int, Option("--days", min=0, metavar="N", help="Days until it expires; 0 for never.")
    ] = 90,
    networks: Annotated[
        str,
        Option(
            "--from", metavar="CIDRS", help="Comma-separated networks from which it is accepted."
        ),
    ] = "",
) -> None:
    """Create a token for a service account and print it. It is shown only once."""
    made = session.client.service_accounts.create_token(
        name,
        token,
        comma_separated(scopes),
        team=session.team,
        days=days or None,
        networks=comma_separated(networks),
    )
    session.echo("Copy the token now; it cannot be shown again.")
    session.show(made, made["token"], [made["token"]])
