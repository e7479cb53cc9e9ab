"""The audit trail: finding, taking out, verifying."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

audit = Commands(help="Who did what, when and from where; and whether that is what was written.")
Actor = Annotated[str, Option("--actor", metavar="EMAIL", help="Who acted, or for whom.")]
Kind = Annotated[
    str, Option("--kind", metavar="WORD", help="member.added, or member for all about members.")
]
Subject = Annotated[
    str, Option("--subject", metavar="WHAT", help="team:vision, job:12, a type, a name or an id.")
]
Address = Annotated[str, Option("--address", metavar="IP", help="One, or all that begin so: 10.2.")]
Since = Annotated[
    str, Option("--since", metavar="TIME", help="24h, 7d, 2026-01-31 or 2026-01-31T12:00 (UTC).")
]
Until = Annotated[str, Option("--until", metavar="TIME")]
Request = Annotated[str, Option("--request", metavar="ID", help="A request id.")]
Installation = Annotated[
    bool, Option("--installation", help="What belongs to no organization, for operators.")
]


@audit.command("list")
def list_events(
    session: Session, actor: Actor = "", kind: Kind = "", subject: Subject = "", address: Address = "", since: Since = "", until: Until = "",
    request: Request = "", installation: Installation = False, limit: Annotated[int, Option("--limit", min=1, metavar="N")] = 50,
) -> None:  # fmt: skip
    """Events, newest first."""
    asked = {
        "actor": actor,
        "kind": kind,
        "subject": subject,
        "address": address,
        "since": since,
        "until": until,
        "request": request,
    }
    found = session.client.audit.list(limit, of_installation=installation, **asked)
    rows = ([e["at"][:19].replace("T", " "), e["actor"] or "–", e["kind"], f"{e['subject']} {e['subject_type']}".strip(), e["address"], _change(e)]
            for e in found)  # fmt: skip
    session.show(
        {"items": found},
        Table(["Time", "Who", "What", "~About", "From", "~Change"], rows, "No event matches."),
        [e["id"] for e in found],
    )


@audit.command("export")
def export(
    session: Session, actor: Actor = "", kind: Kind = "", subject: Subject = "", address: Address = "", since: Since = "", until: Until = "",
    request: Request = "", installation: Installation = False,
    form: Annotated[str, Option("--format", metavar="WORD", help="jsonl or csv.")] = "jsonl",
    output: Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="Standard output if left out.")] = None,
) -> None:  # fmt: skip
    """All events, oldest first, with their places in the chain. A file appears only once it is whole."""
    asked = {
        "actor": actor,
        "kind": kind,
        "subject": subject,
        "address": address,
        "since": since,
        "until": until,
        "request": request,
    }
    pieces = session.client.audit.export(form, of_installation=installation, **asked)
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
    """How far the chain is sealed, and what the last verification found."""
    _tell(session, session.client.audit.chain(of_installation=installation))


@audit.command("verify")
def verify(session: Session, installation: Installation = False) -> None:
    """Have the whole chain verified, and wait. Exit code 1 where it has faults."""
    session.say("Verifying …")
    told = session.client.audit.verify(of_installation=installation)
    _tell(session, told)
    if told["check"]["fault_count"]:
        raise Exit(1)


def _tell(session: Session, told: Json) -> None:
    check, lines = (
        told["check"],
        [
            f"{told['sealing'][0].upper()}{told['sealing'][1:]}.",
            f"{told['checked'][0].upper()}{told['checked'][1:]}.",
        ],
    )
    if told["anchor"]:
        lines.append(f"Anchored at #{told['anchor']['seq']}, {ago(told['anchor']['at'])}.")
    faults = [f"  {fault['kind']}: {fault['text']}" for fault in check["faults"]] if check else []
    session.show(told, [*lines, *faults], [told["sealed"]])


def _change(event: Json) -> str:
    before, after = event["data"].get("before"), event["data"].get("after")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    return ", ".join(f"{name}: {before[name]} → {after[name]}" for name in before if name in after)
