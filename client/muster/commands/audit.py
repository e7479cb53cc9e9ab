"""Commands that search, export and verify the audit trail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {"audit": ("audit", 360, "Search, export and verify the audit trail.")}
audit = Commands(help="Search, export and verify the audit trail.")
Actor = Annotated[str, Option("--actor", metavar="EMAIL", help="Actor, or the person acted for.")]
Kind = Annotated[
    str,
    Option(
        "--kind",
        metavar="KIND",
        help="Event name such as member.added, or a prefix such as member.",
    ),
]
Subject = Annotated[
    str,
    Option(
        "--subject",
        metavar="SUBJECT",
        help="Such as team:vision or job:12; or a type, a name or an id.",
    ),
]
Address = Annotated[str, Option("--address", metavar="IP", help="Address or prefix such as 10.2.")]
Since = Annotated[
    str, Option("--since", metavar="TIME", help="24h, 7d, 2026-01-31 or 2026-01-31T12:00 (UTC).")
]
Until = Annotated[str, Option("--until", metavar="TIME")]
Request = Annotated[str, Option("--request", metavar="ID", help="Request id.")]
Installation = Annotated[
    bool,
    Option(
        "--installation", help="Events of the installation rather than an organization (operators)."
    ),
]


@audit.command("list")
def list_events(
    session: Session,
    actor: Actor = "",
    kind: Kind = "",
    subject: Subject = "",
    address: Address = "",
    since: Since = "",
    until: Until = "",
    request: Request = "",
    installation: Installation = False,
    limit: Annotated[
        int, Option("--limit", min=1, metavar="N", help="Maximum number of events.")
    ] = 50,
) -> None:
    """List events, newest first."""
    body = {
        "actor": actor,
        "kind": kind,
        "subject": subject,
        "address": address,
        "since": since,
        "until": until,
        "request": request,
    }
    found = session.client.audit.list(limit, of_installation=installation, **body)
    rows = (
        [
            e["at"][:19].replace("T", " "),
            e["text"],
            e["kind"],
            e["address"],
        ]
        for e in found
    )
    session.show(
        {"items": found},
        Table(["Time", "~Event", "Kind", "From"], rows, "No matching events."),
        [e["id"] for e in found],
    )


@audit.command("export")
def export(
    session: Session,
    actor: Actor = "",
    kind: Kind = "",
    subject: Subject = "",
    address: Address = "",
    since: Since = "",
    until: Until = "",
    request: Request = "",
    installation: Installation = False,
    form: Annotated[str, Option("--format", metavar="FORMAT", help="jsonl or csv.")] = "jsonl",
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Default: standard output.")
    ] = None,
) -> None:
    """Export all events, oldest first.

    Each has its position in the hash chain.
    """
    body = {
        "actor": actor,
        "kind": kind,
        "subject": subject,
        "address": address,
        "since": since,
        "until": until,
        "request": request,
    }
    pieces = session.client.audit.export(form, of_installation=installation, **body)
    if output is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    part, count = output.with_name(output.name + ".part"), 0
    try:
        with part.open("wb") as file:
            for piece in pieces:
                count += file.write(piece)
    except OSError as error:
        raise InvalidInput(f"{output}: {error.strerror}") from error
    part.replace(output)
    session.show({"file": str(output), "bytes": count}, f"{output}: {count:,} bytes.", [output])


@audit.command("chain")
def chain(session: Session, installation: Installation = False) -> None:
    """Show the state of the hash chain.

    Shows how far it is sealed, and the result of the last verification.
    """
    _show_chain(session, session.client.audit.chain(of_installation=installation))


@audit.command("verify")
def verify(session: Session, installation: Installation = False) -> None:
    """Verify the whole hash chain and wait for the result. Exit code 1 if it has faults."""
    session.echo("Verifying …")
    result = session.client.audit.verify(of_installation=installation)
    _show_chain(session, result)
    if result["check"]["fault_count"]:
        raise Exit(1)


def _show_chain(session: Session, chain: Json) -> None:
    check = chain["check"]
    lines = [f"{text[0].upper()}{text[1:]}." for text in (chain["sealing"], chain["checked"])]
    if chain["anchor"]:
        lines.append(f"Anchored at #{chain['anchor']['seq']}, {ago(chain['anchor']['at'])}.")
    faults = [f"  {fault['kind']}: {fault['text']}" for fault in check["faults"]] if check else []
    session.show(chain, [*lines, *faults], [chain["sealed"]])
