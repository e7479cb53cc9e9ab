"""Commands for secrets.

Values come from a file, standard input or a prompt, never from arguments, which are visible in
process lists.
"""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Argument, Option, prompt

from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Session, Table
from muster.streams import read_text
from muster.wording import ago, count

COMMANDS = {"secret": ("secrets", 260, "Manage secrets for jobs. Values are write-only.")}
secrets = Commands(
    help="Manage secrets for jobs. In a job spec: secrets: {WANDB_API_KEY: team/wandb}"
)
Name = Annotated[
    str, Argument(metavar="NAME", help="TEAM/NAME, org/NAME for all teams, or NAME with --team.")
]


@secrets.command("list")
def list_secrets(session: Session) -> None:
    """List names and versions of the secrets you may see. Values are never shown."""
    found = session.client.get("secrets")
    rows = (
        [
            s["reference"],
            s["version"],
            ago(s["changed_at"]),
            count(s["jobs"]),
            ago(s["last_used_at"]) or "never",
        ]
        for s in found["items"]
    )
    table = Table(
        ["~Secret", ">Version", "Updated", ">Jobs 30d", "Last used"],
        rows,
        "No secrets. Set one: muster secret set TEAM/NAME",
    )
    session.show(found, table, [s["reference"] for s in found["items"]])


@secrets.command("set")
def set_secret(
    session: Session,
    name: Name,
    from_file: Annotated[
        str,
        Option(
            "--from-file",
            metavar="PATH",
            help="Read the value unchanged from a file; - for standard input.",
        ),
    ] = "",
) -> None:
    """Create a secret or a new version of it.

    The value is prompted for, read from a pipe (without the final newline), or from --from-file.
    """
    where, _, alone = _place(session, name)
    made = session.client.secrets.set(where, alone, _value(from_file))
    session.show(
        made, f"Saved {made['reference']}, version {made['version']}.", [made["reference"]]
    )


@secrets.command("delete")
def delete_secret(
    session: Session,
    name: Name,
    version: Annotated[
        int | None,
        Option(
            "--version", min=1, metavar="N", help="Only this version, which cannot be the newest."
        ),
    ] = None,
) -> None:
    """Delete a secret with all versions, or one version."""
    where, _, alone = _place(session, name)
    session.client.secrets.delete(where, alone, version)
    what = f"{where}/{alone}" + (f", version {version}" if version else "")
    session.show(
        {"deleted": f"{where}/{alone}", "version": version},
        f"Deleted {what}.",
        [f"{where}/{alone}"],
    )


def _place(session: Session, name: str) -> tuple[str, str, str]:
    if "/" in name:
        return name.partition("/")
    if not session.client.team:
        raise InvalidInput(
            f"No team was given. Use TEAM/{name}, org/{name} or --team.", code="no_team"
        )
    return session.client.team, "/", name


def _value(from_file: str) -> str:
    if from_file not in ("", "-"):
        return read_text(from_file)
    if from_file == "" and sys.stdin.isatty():
        return str(prompt("Value", hide_input=True, err=True))
    return read_text("-").removesuffix("\n").removesuffix("\r")
