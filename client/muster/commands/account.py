"""Commands for signing in, access tokens and local settings."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

from typer import Argument, Option, prompt

from muster import settings
from muster.client import Client
from muster.device import Grant
from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, clean

COMMANDS = {
    "token": ("tokens", 220, "Manage access tokens."),
    "login": ("app", 390, "Sign in and store the portal's URL and a token."),
    "logout": ("app", 400, "Remove the stored token."),
    "whoami": ("app", 410, "Show the current user and organizations."),
    "config": ("app", 420, "Show or change the stored URL, organization and team."),
}
app, tokens = Commands(), Commands(help="Manage access tokens.")


@app.command("login")
def login(
    session: Session,
    url: Annotated[str | None, Argument(metavar="[URL]", help="URL of the portal.")] = None,
    token: Annotated[
        str | None,
        Option(
            "--token",
            metavar="TOKEN",
            help="Visible in process lists; prefer --with-token.",
        ),
    ] = None,
    with_token: Annotated[
        bool, Option("--with-token", help="Read a token from standard input.")
    ] = False,
    paste: Annotated[
        bool, Option("--paste", help="Prompt for a token created on the Tokens page.")
    ] = False,
) -> None:
    """Sign in with a browser and store the portal's URL and a token."""
    kept = settings.load(url=url or session.url, org=session.org, team=session.team)
    if not kept.url:
        raise InvalidInput(
            "No portal URL was given. Example: muster login http://127.0.0.1:8000", code="no_url"
        )
    chosen = ""
    if not token and not with_token and not paste:
        token, chosen = _browser_token(kept.url)
    client = Client(kept.url, token or _prompted_token(kept, with_token))
    me = client.me()
    slugs = [org["slug"] for org in me["orgs"]]
    if session.org and session.org not in slugs:
        raise InvalidInput(
            f"You are not a member of organization {session.org}. "
            f"Your organizations: {', '.join(slugs) or 'none'}.",
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
        else f". Choose an organization: muster config org {slugs[0]}"
        if slugs
        else ""
    )
    session.show(
        me, f"Signed in to {kept.url} as {me['email']}{where}. Stored in {file}.", [me["email"]]
    )


@app.command("logout")
def logout(session: Session) -> None:
    """Remove the stored token from this machine."""
    kept = settings.kept_settings()
    if kept != settings.Settings():
        settings.save(replace(kept, token=""))
    page = f"{kept.url}/{kept.org}/tokens" if kept.org else "the Tokens page"
    session.show(
        {"signed_in": False, "url": kept.url},
        f"Removed the stored token. It stays valid until it is revoked: {page}",
    )


@app.command("whoami")
def whoami(session: Session) -> None:
    """Show the current user, organizations and roles."""
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
        "You have no organization, or you are suspended. Contact an administrator.",
    )
    session.show(me, [f"{me['email']} on {session.client.url}", table], [me["email"]])


@app.command("config")
def config(
    session: Session,
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="Setting: url, org or team.")
    ] = None,
    value: Annotated[
        str | None, Argument(metavar="[VALUE]", help='New value; "" clears it.')
    ] = None,
) -> None:
    """Show settings, or store a new value for one."""
    if name not in (None, "url", "org", "team"):
        raise InvalidInput(
            f"Unknown setting {name}. Use url, org or team; `muster login` sets the token."
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
    """List active tokens."""
    found = session.client.get("tokens")
    session.show(
        found,
        token_table(found["items"], "No tokens. Create one: muster token create NAME"),
        [t["id"] for t in found["items"]],
    )


@tokens.command("create")
def create(
    session: Session,
    name: Annotated[str, Argument(metavar="NAME", help="What the token is for.")],
    scopes: Annotated[
        str,
        Option(
            "--scopes",
            metavar="SCOPES",
            help="A purpose (ci, tracking, read-only, agent), all, or comma-separated permissions "
            "such as jobs:read,jobs:submit.",
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
    cluster: Annotated[
        str,
        Option(
            "--cluster",
            metavar="NAME",
            help="For node agents of this cluster; with --scopes agent. Operators only.",
        ),
    ] = "",
) -> None:
    """Create a token and print it. It is shown only once."""
    made = session.client.tokens.create(
        name,
        comma_separated(scopes),
        team=session.team,
        days=days or None,
        networks=comma_separated(networks),
        cluster=cluster,
    )
    session.echo("Copy the token now; it cannot be shown again.")
    session.show(made, made["token"], [made["token"]])


@tokens.command("rotate")
def rotate(
    session: Session,
    token: Annotated[str, Argument(metavar="ID", help="From `muster token list`.")],
    overlap: Annotated[
        int,
        Option(
            "--overlap", min=0, max=168, metavar="HOURS", help="How long the old token stays valid."
        ),
    ] = 24,
) -> None:
    """Replace a token and print the new one.

    It has the same scopes and is shown only once.
    """
    made = session.client.tokens.rotate(token, overlap)
    session.echo(
        f"Copy the token now; it cannot be shown again. The old token stays valid for {overlap} h."
    )
    session.show(made, made["token"], [made["token"]])


@tokens.command("revoke")
def revoke(
    session: Session,
    token: Annotated[str, Argument(metavar="ID", help="From `muster token list`.")],
) -> None:
    """Revoke a token."""
    session.client.tokens.revoke(token)
    done: Json = {"revoked": token}
    session.show(done, "The token is revoked.", [token])


def _browser_token(url: str) -> tuple[str, str]:
    """Return a token and its organization, granted by the user in a browser."""
    import webbrowser

    grant = Grant(url)
    authorization = grant.begin()
    sys.stderr.write(f"Your code: {authorization.code}\nApprove it here: {authorization.link}\n")
    if sys.stderr.isatty():
        webbrowser.open(authorization.link)
    return grant.wait(authorization)


def token_table(items: list[Json], empty: str) -> Table:
    """Return a table of tokens that marks those about to expire."""
    rows = (
        [
            t["id"],
            t["name"],
            f"{t['hint']}…",
            t.get("team") or "",
            ", ".join(_limits(t)),
            ago(t["last_used_at"]) or "never",
            (t["expires_at"] or "never")[:10] + _note(t),
        ]
        for t in items
    )
    return Table(["Id", "~Name", "Token", "Team", "~Scopes", "Last used", "Expires"], rows, empty)


def _limits(token: Json) -> list[str]:
    cluster = [f"nodes of {token['cluster']}"] if token.get("cluster") else []
    return [*token["scopes"], *cluster, *(f"from {n}" for n in token.get("networks", ()))]


def _note(token: Json) -> str:
    return " (rotated)" if token.get("is_rotated") else " (soon)" if token.get("ends_soon") else ""


def _prompted_token(kept: settings.Settings, with_token: bool) -> str:
    if with_token:
        given = sys.stdin.readline()
    else:
        page = (
            f"{kept.url}/{kept.org}/tokens"
            if kept.org
            else f"{kept.url} (Tokens page of your organization)"
        )
        sys.stderr.write(f"Create a token: {page}\n")
        given = prompt("Token", hide_input=True, err=True)
    if not given.strip():
        raise InvalidInput("No token was given.")
    return given.strip()


def _with(kept: settings.Settings, name: str, value: str) -> settings.Settings:
    """Return settings with one value changed. A new URL clears the rest, including the token."""
    if name == "url":
        url = settings.tidy_url(value)
        return kept if url == kept.url else settings.Settings(url)
    return replace(kept, **{name: clean(value)})


def comma_separated(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [word.strip() for word in text.split(",") if word.strip()]
