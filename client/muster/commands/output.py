"""`muster job …`: logs, metrics, events and pending reasons of a job."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from typer import Option

from muster.commands.jobs import Name, Names, app
from muster.commands.run import show_log, write_bytes
from muster.errors import InvalidInput
from muster.following import Follower
from muster.interrupts import Interrupts
from muster.output import Column, Listing, Session, Table
from muster.suggestions import suggestion_lines
from muster.wording import ago, clean, number, span

if TYPE_CHECKING:
    from muster.shapes.jobs import LogDeletionShape
    from muster.shapes.portal import SeriesShape

Index = Annotated[
    int | None,
    Option("--index", min=0, metavar="N", help="Array task. Default: the first."),
]
Try = Annotated[
    int | None, Option("--attempt", min=1, metavar="N", help="Attempt. Default: the latest.")
]


@app.command("logs")
def logs(
    session: Session,
    job: Name,
    follow: Annotated[
        bool, Option("--follow", "-f", help="Follow until the job ends; reconnects without gaps.")
    ] = False,
    index: Index = None,
    attempt: Try = None,
    since: Annotated[
        int, Option("--since-offset", min=0, metavar="BYTES", help="Start at this byte.")
    ] = 0,
    timestamps: Annotated[
        bool, Option("--timestamps", "-t", help="Prefix each line with its time.")
    ] = False,
) -> None:
    """Print a job's log, byte for byte."""
    jobs = session.client.jobs
    follower = Follower(jobs, job, index=index or 0, attempt=attempt, offset=since)
    if session.json:
        for _ in follower.pieces() if follow else ():
            pass
        session.show(jobs.log_page(job, after=since, index=index or 0, attempt=attempt))
        return
    if index is None and (size := jobs.get(job).array_size):
        session.echo(f"[task 0 of {size}; use --index N for another]")
    out = _TimestampedOutput(session, follower) if timestamps else sys.stdout.buffer
    if follow:
        with Interrupts() as interrupts:
            show_log(session, follower, out, interrupts)
        return
    while (
        page := jobs.read_log(job, follower.offset, 4 << 20, index=index or 0, attempt=attempt)
    ).data:
        if page.start > follower.offset:
            session.echo(
                f"[bytes {follower.offset:,} to {page.start:,} were lost]",
                "yellow",
            )
        follower.offset = page.start
        write_bytes(out, page.data)
        follower.offset = page.end
    if page.start > follower.offset:
        certificate = jobs.certificate(job, index=index or 0, attempt=attempt) or {}
        session.echo(str(certificate.get("text") or "The end of the log was lost."), "yellow")


@app.command("delete-logs")
def delete_logs(
    session: Session,
    jobs: Names,
    yes: Annotated[bool, Option("--yes", "-y", help="Confirm the permanent deletion.")] = False,
) -> None:
    """Delete the logs of ended jobs permanently.

    Applies to all tasks and attempts.
    """
    if not yes:
        raise InvalidInput(
            "Deleting logs cannot be undone. Confirm with --yes. "
            "To save a copy first: muster job logs JOB > FILE"
        )
    rows = [session.client.jobs.delete_logs(job).raw for job in jobs]
    session.show_list({"items": rows}, DELETIONS, "")


def _deletion_text(deletion: LogDeletionShape | None) -> str:
    if deletion and not deletion["is_over"]:
        return f"{deletion['done']} of {deletion['total']} deleted"
    return "deleted"


DELETIONS = Listing(
    "JobDetailShape",
    "number",
    (
        Column(">Job", "number"),
        Column("By", "log_deletion", lambda deletion: deletion["by"] if deletion else ""),
        Column("Logs", "log_deletion", _deletion_text),
    ),
)


class _TimestampedOutput:
    """Standard output that prefixes each line with the time of its first byte."""

    def __init__(self, session: Session, follower: Follower):
        self.session, self.follower = session, follower
        self.at, self.ordinal, self.is_new_line = 0, follower.ordinal, True

    def write(self, data: bytes) -> None:
        follower = self.follower
        self.at = (
            follower.offset if follower.ordinal != self.ordinal else max(self.at, follower.offset)
        )
        self.ordinal = follower.ordinal
        query = {
            "after": self.at,
            "limit": len(data),
            "index": follower.index,
            "attempt": self.ordinal,
        }
        times = [
            (int(t[0]), int(t[1]))
            for t in self.session.client.jobs.log_page(follower.name, **query)["times"]
        ]
        for line in data.splitlines(keepends=True):
            if self.is_new_line:
                sys.stdout.buffer.write(_stamp(times, self.at))
            sys.stdout.buffer.write(line)
            self.at += len(line)
            self.is_new_line = line.endswith(b"\n")

    def flush(self) -> None:
        sys.stdout.buffer.flush()


@app.command("pending")
def pending(session: Session, job: Name) -> None:
    """Explain why a job is pending.

    Also shows when it is expected to start, who uses what it needs, and what would start it.
    """
    row = session.client.jobs.get(job, advice=True).raw
    reason, start = row["pending"], row.get("expected_start")
    if reason is None:
        session.show(
            {"pending": None},
            f"#{job.lstrip('#')} is not pending. See: muster job info {job.lstrip('#')}",
        )
        return
    held = [
        " ".join(
            filter(None, [f"  {clean(h['text'])}", h.get("since") and f"for {span(h['since'])}"])
        )
        for h in reason["holders"]
    ]
    lines = [clean(reason["text"]), *held, clean(reason.get("advice") or "")]
    if start:
        lines.insert(1, clean(start["text"]))
    parts: list[str | Table] = ["\n".join(filter(None, lines))]
    if suggestions := row.get("suggestions"):
        parts += ["", suggestion_lines(suggestions)]
    if history := reason.get("history"):
        parts += [
            "",
            Table(
                ["Since", "Until", "~Reason"],
                ([ago(h["since"]), ago(h["until"]) or "now", h["text"]] for h in history),
            ),
        ]
    found = {"pending": reason, "expected_start": start, "suggestions": suggestions}
    session.show(found, parts, [reason["code"]])


@app.command("events")
def events(session: Session, job: Name) -> None:
    """List a job's events, oldest first."""
    found = list(session.client.jobs.events(job))
    rows = (
        [
            ago(e["at"]),
            e["text"],
            e["kind"],
        ]
        for e in found
    )
    session.show(
        {"items": found, "next": None, "previous": None},
        Table(["Time", "~Event", "Kind"], rows),
        [e["id"] for e in found],
    )


@app.command("metrics")
def metrics(
    session: Session,
    job: Name,
    names: Annotated[
        str | None, Option("--names", metavar="NAMES", help="Comma-separated names.")
    ] = None,
    index: Index = None,
    attempt: Try = None,
    max_points: Annotated[
        int | None, Option("--max-points", min=1, metavar="N", help="Maximum points per metric.")
    ] = None,
) -> None:
    """Show a job's metrics.

    They are reported by the job or measured on its node.
    """
    found = session.client.jobs.metrics(
        job, names=names, index=index, attempt=attempt, max_points=max_points
    )
    rows = [
        *(_curve("training", curve) for curve in found["training"]),
        *(_curve("system", curve) for curve in found["system"]),
    ]
    empty = "No metrics yet. Report them in the job from Python: muster.log(step=1, loss=0.42)"
    session.show(
        found,
        Table(["Metric", "Source", ">First", ">Min", ">Max", ">Last", "Unit"], rows, empty),
        [row[0] for row in rows],
    )


def _curve(part: str, curve: SeriesShape) -> list[str]:
    labels = ",".join(f"{k}={v}" for k, v in curve["labels"].items())
    values = [v for v in curve["values"] if v is not None]
    shown = (
        [number(v) for v in (values[0], min(values), max(values), values[-1])]
        if values
        else [""] * 4
    )
    return [
        curve["name"] + (f"{{{labels}}}" if labels else ""),
        part,
        *shown,
        curve.get("unit") or "",
    ]


def _stamp(times: list[tuple[int, int]], at: int) -> bytes:
    """Return the ISO time (UTC, ms) of the last record at or before byte `at`."""
    when = next(
        (ms for offset, ms in reversed(times) if offset <= at), times[0][1] if times else None
    )
    if when is None:
        return b"-                        "
    return (
        datetime.fromtimestamp(when / 1000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
        .encode()
        + b" "
    )
