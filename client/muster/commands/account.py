"""Signing in, and tokens."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from muster import settings
from muster.client import Client, MusterError
from muster.output import Context, ago, say, show, table

tokens = typer.Typer()
Text = Optional[str]  # noqa: UP045  Typer reads it


def login(context: typer.Context, url: Annotated[Text, typer.Argument(help="The portal's address.")] = None,
          with_token: Annotated[bool, typer.Option("--with-token", help="Read the token from standard input.")] = False) -> None:
    """Keep a portal's address and a token for this user."""
    obj: Context = context.obj
    kept = settings.load(url=url or obj.url, org=obj.org, team=obj.team)
    if not kept.url:
        raise MusterError("Which portal? Give its address: muster login http://127.0.0.1:8000", code="no_url")
    if not (obj.token or with_token):
        say(f"Make a token on {kept.url} (Tokens page), and paste it here.")
    token = obj.token or (sys.stdin.readline().strip() if with_token else typer.prompt("Token", hide_input=True, err=True))
    me = Client(kept.url, token).me()
    org = kept.org if any(o["slug"] == kept.org for o in me["orgs"]) else me["orgs"][0]["slug"] if len(me["orgs"]) == 1 else ""
    file = settings.save(settings.Settings(kept.url, token, org, kept.team))
    show(obj, me, f"Signed in to {kept.url} as {me['email']}" + (f", organization {org}" if org else "") + f". Kept in {file}.", [me["email"]])


def logout(context: typer.Context) -> None:
    """Forget the token kept here. Revoke it on the Tokens page."""
    kept = settings.load()
    settings.save(settings.Settings(kept.url, "", kept.org, kept.team))
    show(context.obj, {"signed_in": False}, "The token is forgotten here. To end it everywhere, revoke it on the Tokens page.")


def whoami(context: typer.Context) -> None:
    """Who one is, and where."""
    obj: Context = context.obj
    me = obj.client.me()
    orgs = ", ".join(f"{o['slug']} ({o['role'] or 'operator'})" for o in me["orgs"])
    show(obj, me, f"{me['email']} on {obj.client.settings.url}: {orgs}", [me["email"]])


@tokens.command("list")
def list_tokens(context: typer.Context) -> None:
    """Tokens that work."""
    obj: Context = context.obj
    found = obj.client.get("tokens")
    show(obj, found, table(["Id", "Name", "Token", "May", "Last used", "Expires"], (
        [t["id"], t["name"], t["hint"] + "…", ", ".join(t["scopes"]), ago(t["last_used_at"]) or "never", (t["expires_at"] or "never")[:10]]
        for t in found["items"])), [t["id"] for t in found["items"]])


@tokens.command()
def create(context: typer.Context, name: str, scopes: Annotated[str, typer.Option(help="all, or permissions separated by commas.")] = "all",
           days: Annotated[int, typer.Option(help="0: it does not expire.", min=0)] = 90) -> None:
    """Make a token. Standard output carries it, and nothing else."""
    obj: Context = context.obj
    made = obj.client.send("POST", "tokens", {"name": name, "scopes": scopes.split(","), "team": obj.team, "days": days or None})
    show(obj, made, made["token"], [made["token"]])


@tokens.command()
def revoke(context: typer.Context, token: Annotated[str, typer.Argument(help="Its id, from `muster token list`.")]) -> None:
    """End a token."""
    context.obj.client.send("DELETE", f"tokens/{token}")
    show(context.obj, {"revoked": token}, "The token no longer works.", [token])
