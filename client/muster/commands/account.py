"""Signing in, tokens and settings."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

from typer import Argument, Option, prompt

from muster import settings
from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, clean

app, tokens = Commands(), Commands(help="Access tokens.")


@app.command("login")
def login(
    session: Session,
    url: Annotated[str | None, Argument(metavar="[URL]", help="The portal's address.")] = None,
    token: Annotated[
        str | None,
        Option(
            "--token",
            metavar="TOKEN",
            help="Better: --with-token, which no list of processes shows.",
        ),
    ] = None,
    with_token: Annotated[
        bool, Option("--with-token", help="Read the token from standard input.")
    ] = False,
    paste: Annotated[
        bool, Option("--paste", help="Ask for a token made on the Tokens page.")
    ] = False,
) -> None:
    """Sign in by the browser, and keep the portal's address and a token for this user."""
    from muster.client import Client

    kept = settings.load(url=url or session.url, org=session.org, team=session.team)
    if not kept.url:
        raise InvalidInput(
            "Which portal? Give its address: muster login http://127.0.0.1:8000", code="no_url"
        )
    chosen = ""
    if not token and not with_token and not paste:
        token, chosen = _by_browser(kept.url)
    client = Client(kept.url, token or _asked_token(kept, with_token))
    me = client.me()
    slugs = [org["slug"] for org in me["orgs"]]
    if session.org and session.org not in slugs:
        raise InvalidInput(
            f"You are not in organization {session.org}; you are in {', '.join(slugs) or 'none yet'}.",
            code="no_org",
        )
    org = (
        chosen
        if chosen in slugs
        else kept.org
        if kept.org in slugs
        else slugs[0]
        if len(slugs) == 1
        else ""
    )
    file = settings.save(settings.Settings(kept.url, client.settings.token, org, kept.team))
    where = (
        f", organization {org}"
        if org
        else f"; choose an organization: muster config org {slugs[0]}"
        if slugs
        else ""
    )
    session.show(
        me, f"Signed in to {kept.url} as {me['email']}{where}. Kept in {file}.", [me["email"]]
    )


@app.command("logout")
def logout(session: Session) -> None:
    """Forget the token kept here."""
    kept = settings.kept_settings()
    if kept != settings.Settings():
        settings.save(replace(kept, token=""))
    page = f"{kept.url}/{kept.org}/tokens" if kept.org else "the Tokens page"
    session.show(
        {"signed_in": False, "url": kept.url},
        f"The token is forgotten here. To end it everywhere, revoke it: {page}",
    )


@app.command("whoami")
def whoami(session: Session) -> None:
    """Who one is, and where."""
    me = session.client.me()
    rows = (
        [
            org["slug"],
            org["name"],
            org["role"] or "operator",
            ", ".join(team["slug"] for team in org["teams"]),
        ]
        for org in me["orgs"]
    )
    table = Table(
        ["Organization", "Name", "Role", "~Teams"],
        rows,
        "In no organization, or suspended in yours: ask an administrator.",
    )
    session.show(me, [f"{me['email']} on {session.client.url}", table], [me["email"]])


@app.command("config")
def config(
    session: Session,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="url, org or team.")] = None,
    value: Annotated[
        str | None, Argument(metavar="[VALUE]", help='What to keep; "" to forget it.')
    ] = None,
) -> None:
    """Show what holds, or keep another value."""
    if name not in (None, "url", "org", "team"):
        raise InvalidInput(
            f"{name} cannot be kept; there is url, org and team, and `muster login` for the token"
        )
    if name and value is not None:
        settings.save(_with(settings.kept_settings(), name, value))
    now = settings.load(url=session.url, org=session.org, team=session.team)
    found = {
        "url": now.url,
        "org": now.org,
        "team": now.team,
        "token": f"{now.token[:8]}…" if now.token else "",
        "file": str(settings.path()),
    }
    if name:
        session.show({name: found[name]}, found[name], [found[name]])
    else:
        session.show(found, Table(["Setting", "~Value"], found.items(), wraps=True), found.values())


@tokens.command("list")
def list_tokens(session: Session) -> None:
    """Tokens that work."""
    found = session.client.get("tokens")
    session.show(
        found,
        token_table(found["items"], "No tokens. Make one: muster token create NAME"),
        [t["id"] for t in found["items"]],
    )


@tokens.command("create")
def create(
    session: Session,
    name: Annotated[str, Argument(metavar="NAME", help="What it is for.")],
    scopes: Annotated[
        str,
        Option(
            "--scopes",
            metavar="WORDS",
            help="all, or permissions separated by commas: jobs:read,jobs:submit.",
        ),
    ] = "all",
    days: Annotated[int, Option("--days", min=0, metavar="N", help="0: it does not expire.")] = 90,
    networks: Annotated[
        str,
        Option("--from", metavar="CIDRS", help="Networks that it works from, separated by commas."),
    ] = "",
) -> None:
    """Make a token. Standard output carries it and nothing else; it is shown this once."""
    made = session.client.tokens.create(
        name, words(scopes), team=session.team, days=days or None, networks=words(networks)
    )
    session.say("Keep it now: it cannot be shown again.")
    session.show(made, made["token"], [made["token"]])


@tokens.command("rotate")
def rotate(
    session: Session, token: Annotated[str, Argument(metavar="ID", help="From `muster token list`.")],
    overlap: Annotated[int, Option("--overlap", min=0, max=168, metavar="HOURS", help="How long the old token goes on working.")] = 24,
) -> None:  # fmt: skip
    """Make a token's successor, with the same rights. Standard output carries it and nothing else; it is shown this once."""
    made = session.client.tokens.rotate(token, overlap)
    session.say(
        f"Keep it now: it cannot be shown again. The old token works for {overlap} more hours."
    )
    session.show(made, made["token"], [made["token"]])


@tokens.command("revoke")
def revoke(
    session: Session,
    token: Annotated[str, Argument(metavar="ID", help="From `muster token list`.")],
) -> None:
    """End a token."""
    session.client.tokens.revoke(token)
    done: Json = {"revoked": token}
    session.show(done, "The token no longer works.", [token])


def _by_browser(url: str) -> tuple[str, str]:
    """The token and its organization, from the page that a person agrees on."""
    import webbrowser

    from muster.device import Grant

    grant = Grant(url)
    asked = grant.begin()
    sys.stderr.write(f"Your code: {asked.code}\nAgree to it here: {asked.link}\n")
    if sys.stderr.isatty():
        webbrowser.open(asked.link)
    return grant.wait(asked)


def token_table(items: list[Json], empty: str) -> Table:
    """Tokens, with what ends soon."""
    rows = ([t["id"], t["name"], f"{t['hint']}…", t.get("team") or "", ", ".join([*t["scopes"], *(f"from {n}" for n in t.get("networks", ()))]),
             ago(t["last_used_at"]) or "never", (t["expires_at"] or "never")[:10] + _note(t)] for t in items)  # fmt: skip
    return Table(["Id", "~Name", "Token", "Team", "~May", "Last used", "Expires"], rows, empty)


def _note(token: Json) -> str:
    return " (rotated)" if token.get("is_rotated") else " (soon)" if token.get("ends_soon") else ""


def _asked_token(kept: settings.Settings, with_token: bool) -> str:
    if with_token:
        given = sys.stdin.readline()
    else:
        page = (
            f"{kept.url}/{kept.org}/tokens"
            if kept.org
            else f"{kept.url} (Tokens page of your organization)"
        )
        sys.stderr.write(f"Make a token: {page}\n")
        given = prompt("Paste it here", hide_input=True, err=True)
    if not given.strip():
        raise InvalidInput("No token was given.")
    return given.strip()


def _with(kept: settings.Settings, name: str, value: str) -> settings.Settings:
    """Another portal begins with nothing: a token is for the one that made it."""
    if name == "url":
        url = settings.tidy_url(value)
        return kept if url == kept.url else settings.Settings(url)
    return replace(kept, **{name: clean(value)})


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
