"""Secrets. A value comes from a file, standard input or a prompt, never from the command line, which every list of processes shows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option, prompt

from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

secrets = Commands(
    help="Values that jobs get and nobody reads: secrets: {WANDB_API_KEY: team/wandb}"
)
Name = Annotated[
    str, Argument(metavar="NAME", help="TEAM/NAME; org/NAME for all teams; NAME alone with --team.")
]


@secrets.command("list")
def list_secrets(session: Session) -> None:
    """Those that you may see: names and versions, no values."""
    found = session.client.get("secrets")
    rows = (
        [s["reference"], s["version"], ago(s["changed_at"]), ago(s["last_used_at"]) or "never"]
        for s in found["items"]
    )
    table = Table(
        ["~Secret", ">Version", "Set", "Last used"],
        rows,
        "No secrets. Set one: muster secret set TEAM/NAME",
    )
    session.show(found, table, [s["reference"] for s in found["items"]])


@secrets.command("set")
def set_secret(
    session: Session, name: Name,
    from_file: Annotated[str, Option("--from-file", metavar="PATH", help="Read the value from a file, as it is; - is standard input.")] = "",
) -> None:  # fmt: skip
    """Set a secret: asked for, or piped in (then without its last line end), or from a file. One that is there gets a new version."""
    where, _, alone = _place(session, name)
    made = session.client.secrets.set(where, alone, _value(from_file))
    session.show(
        made, f"{made['reference']} is set, version {made['version']}.", [made["reference"]]
    )


@secrets.command("delete")
def delete_secret(
    session: Session, name: Name,
    version: Annotated[int | None, Option("--version", min=1, metavar="N", help="Only this one; not the newest.")] = None,
) -> None:  # fmt: skip
    """Delete a secret with all its versions, or one version."""
    where, _, alone = _place(session, name)
    session.client.secrets.delete(where, alone, version)
    what = f"{where}/{alone}" + (f", version {version}," if version else "")
    session.show(
        {"deleted": f"{where}/{alone}", "version": version},
        f"{what} is deleted.",
        [f"{where}/{alone}"],
    )


def _place(session: Session, name: str) -> tuple[str, str, str]:
    if "/" in name:
        return name.partition("/")
    if not session.client.team:
        raise InvalidInput(f"Whose secret? Say TEAM/{name}, org/{name}, or --team.", code="no_team")
    return session.client.team, "/", name


def _value(from_file: str) -> str:
    if from_file not in ("", "-"):
        try:
            return Path(from_file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"{from_file}: {getattr(error, 'strerror', None) or 'is not text'}"
            ) from error
    if from_file == "" and sys.stdin.isatty():
        return str(prompt("Value", hide_input=True, err=True))
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")
