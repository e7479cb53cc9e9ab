"""`muster session …`: notebooks, editors and other web apps on the cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from muster.errors import Conflict
from muster.options import Commands
from muster.output import Column, Listing, Session, Table
from muster.sessions import ENDED
from muster.wording import ago, ahead, clean, person

if TYPE_CHECKING:
    from muster.shapes.sessions import (
        InteractiveSessionDetailShape,
        InteractiveSessionShape,
        SessionPersonShape,
    )

COMMANDS = {"session": ("sessions", 25, "Start JupyterLab, VS Code, terminals and web apps.")}
sessions = Commands(help="Start JupyterLab, VS Code, terminals and other web apps on the cluster.")
Which = Annotated[str, Argument(metavar="SESSION", help="Number, such as 12, or name.")]
Text = str | None


def _resources(row: InteractiveSessionShape) -> str:
    held = row["job"]["resources"]
    gpus = f"{held['gpus']} {held['gpu_type'] or 'gpu'}, " if held["gpus"] else ""
    return f"{gpus}{held['cpus']:g} CPU"


SESSIONS = Listing(
    "InteractiveSessionShape",
    "number",
    (
        Column("Session", "number"),
        Column("~Name", "name"),
        Column("State", "state"),
        Column("Template", "template"),
        Column("Resources", "", _resources),
        Column("Owner", "owner", person),
        Column(">Last used", "last_used_at", ago),
        Column(">Started", "created_at", ago),
    ),
)


@sessions.command("start")
def start_session(
    session: Session,
    template: Annotated[
        str, Argument(metavar="TEMPLATE", help="jupyter, vscode, terminal, tensorboard or app.")
    ],
    name: Annotated[Text, Option("--name", "-n", metavar="NAME")] = None,
    gpus: Annotated[
        Text, Option("--gpus", "-g", metavar="TYPE:N", help="Such as 1, h100:1, mig-1g.10gb:1.")
    ] = None,
    cpus: Annotated[Text, Option("--cpus", metavar="N", help="CPU cores.")] = None,
    memory: Annotated[Text, Option("--memory", metavar="SIZE", help="Such as 8Gi.")] = None,
    image: Annotated[Text, Option("--image", metavar="IMAGE", help="Container image.")] = None,
    data: Annotated[
        Text, Option("--data", metavar="NAME", help="A dataset, or checkpoint:NAME; @REVISION.")
    ] = None,
    workspace: Annotated[
        Text,
        Option(
            "--workspace",
            metavar="NAME",
            help="Where it starts, instead of your home folder. none: neither.",
        ),
    ] = None,
    time_limit: Annotated[
        Text, Option("--time", "-t", metavar="DURATION", help="Such as 8h.")
    ] = None,
    pool: Annotated[Text, Option("--pool", metavar="NAME")] = None,
    command: Annotated[
        Text, Option("--command", metavar="CMD", help="Of the template app: what starts it.")
    ] = None,
    port: Annotated[
        Text, Option("--port", metavar="N", help="Of the template app: where it listens.")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only say when it would start, or why not.")
    ] = False,
    wait: Annotated[bool, Option("--wait", "-w", help="Wait until the app is ready.")] = False,
) -> int:
    """Start a session. What is left out has the default of the template."""
    choices = {
        "name": name,
        "gpus": gpus,
        "cpus": cpus,
        "memory": memory,
        "image": image,
        "data": data,
        "workspace": workspace,
        "time_limit": time_limit,
        "pool": pool,
        "command": command,
        "port": port,
    }
    if dry_run:
        found = session.client.sessions.check(template, team=session.team, **choices)
        expected = found["expected"]
        text = f"{found['text']} {expected['text'] if expected else ''}".strip()
        session.show(found, text if found["ok"] else f"It can't start: {text}", [])
        return 0 if found["ok"] else 2
    made = session.client.sessions.start(template, team=session.team, **choices)
    number = made["number"]
    if not wait:
        text = f"Started session {number}. Open it: muster session open {number}"
        session.show(made, text, [number])
        return 0
    session.echo(f"Started session {number}.")
    row = session.client.sessions.wait(number, on_poll=_teller(session))
    session.show(row, row["url"] if row["state"] == "ready" else _end(row), [number])
    return 0 if row["state"] == "ready" else 1


def _teller(session: Session) -> Any:
    """Return a function that says once what each new state of a session is."""
    told = [""]

    def tell(row: InteractiveSessionDetailShape) -> None:
        text = row["progress"]["text"] if row["progress"] else ""
        if text and text != told[0]:
            session.echo(clean(text))
            told[0] = text

    return tell


def _end(row: InteractiveSessionDetailShape) -> str:
    problem = row["problem"]
    if not problem:
        reason = row["job"]["reason"]
        return f"The session is {row['state']}. {reason['evidence'] if reason else ''}".strip()
    return f"{problem['text']} {problem['fix']}".strip()


@sessions.command("list")
def list_sessions(
    session: Session,
    query: Annotated[
        str,
        Argument(metavar="[QUERY]", help="Filters as in the search box: 'state:ready user:kim'."),
    ] = "",
    state: Annotated[
        Text, Option("--state", "-s", metavar="STATES", help="Such as ready,queued.")
    ] = None,
    mine: Annotated[bool, Option("--mine", help="Only your own sessions.")] = False,
) -> None:
    """List sessions, newest first."""
    filters = {
        "query": query,
        "state": state,
        "owner": "me" if mine else None,
        "team": session.team,
    }
    given = {name: value for name, value in filters.items() if value}
    found = session.client.sessions.list(most=100, **given)
    empty = "No sessions. Start one: muster session start jupyter"
    session.show_list({"items": found}, SESSIONS, empty)


def _who(one: SessionPersonShape) -> str:
    return person(one["person"]) if one["person"] else "the team"


def _shared(row: InteractiveSessionDetailShape) -> str:
    """Say with whom a session is shared."""
    given = [one for one in row["people"] if one["access"] in ("read", "write")]
    return ", ".join(_who(one) + " (to look)" * (one["access"] == "read") for one in given)


def _idle(row: InteractiveSessionDetailShape) -> str:
    """Say when the idle rule acts, or why it does not."""
    idle = row["idle"]
    if idle is None:
        return ""
    if idle["kept_until"]:
        return f"{idle['kept_by']} keeps it, for another {ahead(idle['kept_until'])[3:]}"
    if not idle["is_running"]:
        return clean(idle["text"])
    used, acts = ago(idle["used_at"]), ahead(idle["acts_at"])
    what = {"stop": "is stopped", "lower": "gets a low priority"}.get(idle["action"], "")
    return f"last used {used}; without use it {what} {acts}" if acts else f"last used {used}"


@sessions.command("show")
def show_session(session: Session, which: Which) -> None:
    """Show a session: what happens now, or why it failed."""
    row = session.client.sessions.get(which)
    progress = row["progress"]
    expected = progress["expected"] if progress else None
    facts: list[tuple[str, str]] = [
        ("State", row["state"]),
        ("Now" if progress else "End", clean(progress["text"] if progress else _end(row))),
        ("Expected start", expected["text"] if expected else ""),
        ("Template", f"{row['template']}, version {row['template_version']}"),
        ("Resources", _resources(row)),
        ("Image", row["image"]),
        ("Home", row["home"]),
        ("Time limit", row["time_limit"]),
        ("Ends", ahead(row["ends_at"])),
        ("Idle", _idle(row)),
        ("Team", row["team"]),
        ("Owner", person(row["owner"])),
        ("Shared with", _shared(row)),
        ("In it now", ", ".join(_who(one) for one in row["people"] if one["is_in"])),
        ("Started", ago(row["created_at"])),
        ("Last used", ago(row["last_used_at"])),
        ("Job", f"#{row['job']['number']}"),
        ("Open", row["url"]),
    ]
    rows = [[name, value] for name, value in facts if value]
    session.show(
        row,
        Table([f"#{row['number']}", f"~{clean(row['name'])}"], rows, wraps=True),
        [row["number"]],
    )


@sessions.command("open")
def open_session(session: Session, which: Which) -> None:
    """Open the app of a session in a browser, and print its address."""
    import webbrowser

    row = session.client.sessions.get(which)
    if row["state"] == "failed":
        raise Conflict(f"Session {row['number']} has failed: {_end(row)}")
    if row["state"] in ENDED:
        number = row["number"]
        raise Conflict(
            f"Session {number} has ended. Start it again: muster session resume {number}"
        )
    is_open = sys.stdout.isatty() and webbrowser.open(row["url"])
    session.show({"url": row["url"], "opened": bool(is_open)}, row["url"], [row["number"]])


@sessions.command("stop")
def stop_sessions(
    session: Session,
    which: Annotated[list[str], Argument(metavar="SESSION", help="Numbers or names.")],
) -> None:
    """Stop sessions: all their processes end."""
    found = [session.client.sessions.stop(one) for one in which]
    session.show_list({"items": found}, SESSIONS, "")


@sessions.command("resume")
def resume_session(session: Session, which: Which) -> None:
    """Start a session that has ended once more, with the same choices."""
    row = session.client.sessions.resume(which)
    number = row["number"]
    session.show(row, f"Started session {number}. Open it: muster session open {number}", [number])


@sessions.command("restart")
def restart_session(session: Session, which: Which) -> None:
    """Stop a session, if it has not ended, and start it again: an app that hangs comes back."""
    row = session.client.sessions.restart(which)
    number = row["number"]
    session.show(
        row, f"Restarted session {number}. Open it: muster session open {number}", [number]
    )


Who = Annotated[str, Argument(metavar="WHO", help="An e-mail address, or team.")]


@sessions.command("share")
def share_session(
    session: Session,
    which: Which,
    who: Who,
    read_only: Annotated[bool, Option("--read-only", help="To look at it only.")] = False,
) -> None:
    """Let a person or the whole team open a session."""
    access = "read" if read_only else "write"
    row = session.client.sessions.share(which, who, access=access)
    text = f"Shared session {row['number']} with {clean(who)}. They open {row['url']}"
    session.show(row, text, [row["number"]])


@sessions.command("unshare")
def unshare_session(session: Session, which: Which, who: Who) -> None:
    """End a share; connections that are open are closed."""
    row = session.client.sessions.unshare(which, who)
    text = f"Session {row['number']} is no longer shared with {clean(who)}."
    session.show(row, text, [row["number"]])


@sessions.command("extend")
def extend_session(
    session: Session,
    which: Which,
    by: Annotated[str, Argument(metavar="DURATION", help="How much longer, such as 2h.")],
) -> None:
    """Give a session more time, also while it runs."""
    row = session.client.sessions.extend(which, by)
    limit = session.client.sessions.get(which)["time_limit"]
    text = f"Session {row['number']} may run {limit} after its start."
    session.show(row, text, [row["number"]])


@sessions.command("keep")
def keep_session(
    session: Session,
    which: Which,
    hours: Annotated[
        float, Option("--hours", metavar="N", help="How long the idle rule leaves it alone.")
    ] = 2,
) -> None:
    """Keep a session running although it is idle."""
    row = session.client.sessions.keep(which, hours)
    text = f"Session {row['number']} is kept for {hours:g} hours, also if it is idle."
    session.show(row, text, [row["number"]])


@sessions.command("token")
def show_token(session: Session, which: Which) -> None:
    """Print the token that the app asks for at a forwarded port, as JupyterLab does.

    muster port-forward 12 app --local 8888, then http://127.0.0.1:8888/?token=TOKEN.
    """
    token = session.client.sessions.token(which)
    session.show({"token": token}, token, [token])


@sessions.command("templates")
def list_templates(session: Session) -> None:
    """List what a session can run."""
    found = session.client.sessions.templates()
    rows = [
        [one["name"], one["title"], one["about"], one["memory"], one["time_limit"]] for one in found
    ]
    table = Table(["Template", "Title", "~About", ">Memory", ">Time limit"], rows, "No templates.")
    session.show({"items": found}, table, [one["name"] for one in found])
