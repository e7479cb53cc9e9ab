"""Service accounts and their tokens."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.commands.account import token_table, words
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

accounts = Commands(help="Members of the organization that are no people, and their tokens.")
Name = Annotated[str, Argument(metavar="NAME")]


@accounts.command("list")
def list_accounts(session: Session) -> None:
    """All service accounts."""
    found = session.client.get("service-accounts")
    rows = ([a["name"], a["role"], ", ".join(t["slug"] for t in a["teams"]), a["tokens"], ago(a["last_used_at"]) or "never", a["note"]]
            for a in found["items"])  # fmt: skip
    table = Table(
        ["Account", "Role", "Teams", ">Tokens", "Last used", "~For"],
        rows,
        "None. Make one: muster service-account create NAME",
    )
    session.show(found, table, [a["name"] for a in found["items"]])


@accounts.command("create")
def create_account(
    session: Session, name: Name,
    role: Annotated[str, Option("--role", metavar="WORD", help="admin, member or viewer; none beyond your own.")] = "member",
    note: Annotated[str, Option("--note", metavar="TEXT", help="What it is for.")] = "",
) -> None:  # fmt: skip
    """Make a service account."""
    made = session.client.service_accounts.create(name, note=note, role=role)
    session.show(
        made, f"{name} is there. Bring it into a team: muster team add TEAM {made['email']}", [name]
    )


@accounts.command("delete")
def delete_account(session: Session, name: Name) -> None:
    """Remove a service account; its tokens stop working at once, its jobs stay."""
    session.client.service_accounts.remove(name)
    session.show({"deleted": name}, f"{name} is removed; its tokens no longer work.", [name])


@accounts.command("tokens")
def list_tokens(session: Session, name: Name) -> None:
    """The tokens of a service account."""
    found = session.client.get(f"service-accounts/{name}/tokens")
    table = token_table(
        found["items"], f"None. Make one: muster service-account token {name} TOKEN-NAME"
    )
    session.show(found, table, [t["id"] for t in found["items"]])


@accounts.command("token")
def create_token(
    session: Session, name: Name, token: Annotated[str, Argument(metavar="TOKEN-NAME", help="What the token is for.")],
    scopes: Annotated[str, Option("--scopes", metavar="WORDS", help="all, or permissions separated by commas.")] = "all",
    days: Annotated[int, Option("--days", min=0, metavar="N", help="0: it does not expire.")] = 90,
    networks: Annotated[str, Option("--from", metavar="CIDRS", help="Networks that it works from, separated by commas.")] = "",
) -> None:  # fmt: skip
    """Make a token of a service account. Standard output carries it and nothing else; it is shown this once."""
    made = session.client.service_accounts.create_token(
        name, token, words(scopes), team=session.team, days=days or None, networks=words(networks)
    )
    session.say("Keep it now: it cannot be shown again.")
    session.show(made, made["token"], [made["token"]])
