"""`muster job …`: submit, list and control jobs."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from muster.changes import changed
from muster.commands.run import after_submit, follow_job, show_dry_run
from muster.errors import Conflict, InvalidInput, Json, MusterError
from muster.faults import shown_faults
from muster.options import Commands
from muster.output import Column, Listing, Session, Table
from muster.records import FINAL, Job
from muster.streams import read_text
from muster.suggestions import suggestion_lines, with_suggestions
from muster.wording import (
    advice,
    ago,
    best_value,
    brief,
    clean,
    duration,
    ending,
    held,
    holders,
    job_number,
    person,
    progress,
    seconds,
    size,
    span,
    why,
)

if TYPE_CHECKING:
    from muster.shapes.jobs import AttemptShape, JobDetailShape, JobShape

COMMANDS = {"job": ("app", 20, "Submit, list, follow and control jobs.")}
app = Commands(help="Submit, list, follow and control jobs.")
Text = str | None
Name = Annotated[str, Argument(metavar="JOB", help="Job number, such as 12, or id.")]
Names = Annotated[list[str], Argument(metavar="JOB", help="Job numbers or ids.")]
Changes = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a field, such as resources.cpus=4 or env.LR=3e-4. Repeatable.",
    ),
]
Stays = Annotated[
    bool, Option("--wait", "-w", help="Follow the job until it ends, like `muster run`.")
]
WATCH = 2.0  # seconds between refreshes with --watch


@app.command("submit")
def submit(
    session: Session,
    file: Annotated[
        str,
        Argument(
            metavar="FILE", help="YAML spec, or script with #SBATCH lines; - for standard input."
        ),
    ],
    changes: Changes = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the job and show what would be submitted.")
    ] = False,
    wait: Stays = False,
) -> int:
    """Submit a job from a file."""
    text, jobs = read_text(file), session.client.jobs
    try:
        body: Json = {"yaml": text}
        if changes:
            body = {"spec": changed(_checked_spec(session, text), changes)}
        if dry_run:
            return show_dry_run(session, jobs.rehearse(**body))
        job = jobs.submit(**body)
    except (InvalidInput, Conflict) as error:
        found = with_suggestions(session, error, body)
        if session.json or not error.errors or changes or isinstance(error, Conflict):
            raise found from error
        raise InvalidInput(
            _format_errors(session, file, text, found), code=error.code, status=error.status
        ) from error
    return after_submit(session, job, follow=wait)


@app.command("list")
def list_jobs(
    session: Session,
    query: Annotated[
        str,
        Argument(
            metavar="[QUERY]",
            help="Filters as in the search box: 'state:failed on:yesterday user:kim'.",
        ),
    ] = "",
    state: Annotated[
        Text,
        Option(
            "--state",
            "-s",
            metavar="STATES",
            help="Comma-separated states, such as running,queued.",
        ),
    ] = None,
    mine: Annotated[bool, Option("--mine", help="Only your own jobs.")] = False,
    owner: Annotated[
        Text, Option("--owner", metavar="EMAIL", help="Only jobs of this person.")
    ] = None,
    search: Annotated[
        Text, Option("--search", metavar="TEXT", help="Job number or name prefix.")
    ] = None,
    name: Annotated[Text, Option("--name", metavar="NAME", help="Exact name.")] = None,
    label: Annotated[
        Text, Option("--label", metavar="K:V", help="Only jobs with this label.")
    ] = None,
    cluster: Annotated[
        Text, Option("--cluster", metavar="NAMES", help="Comma-separated clusters.")
    ] = None,
    pool: Annotated[Text, Option("--pool", metavar="NAMES", help="Comma-separated pools.")] = None,
    kind: Annotated[Text, Option("--kind", metavar="KINDS", help="Kinds, such as batch.")] = None,
    origin: Annotated[
        Text,
        Option("--origin", metavar="TEXT", help="What submitted it, such as rerun or rerun:#12."),
    ] = None,
    limit: Annotated[
        int, Option("--limit", "-l", min=1, metavar="N", help="Maximum number of jobs.")
    ] = 50,
    cursor: Annotated[
        Text,
        Option(
            "--cursor", metavar="TEXT", help="Continue from the value of `next` in a JSON response."
        ),
    ] = None,
    watch: Annotated[bool, Option("--watch", help="Refresh every 2 s until Ctrl-C.")] = False,
) -> None:
    """List jobs, newest first."""
    filters = {
        "query": query or None,
        "state": state,
        "owner": "me" if mine else owner,
        "q": search,
        "name": name,
        "label": label and label.replace("=", ":", 1),
        "team": session.team,
        "cluster": cluster,
        "pool": pool,
        "kind": kind,
        "origin": origin,
    }
    if watch and session.json:
        raise InvalidInput("--watch cannot be used with --json.")
    while True:
        found = _page(session, limit, cursor, filters)
        if watch and sys.stdout.isatty():
            sys.stdout.write("\x1b[H\x1b[2J")
        _show_jobs(session, found, is_filtered=any(filters.values()))
        if not watch:
            return
        time.sleep(WATCH)


def _where(row: JobShape | AttemptShape) -> str:
    """Return the nodes, such as "n1 + 3 more"."""
    more = len(row["nodes"]) - 1
    return f"{row['node']}{f' + {more} more' if more > 0 else ''}"


def _run_for(row: JobShape | AttemptShape) -> str:
    return span(row["started_at"], row["finished_at"])


JOBS = Listing(
    "JobShape",
    "number",
    (
        Column("Job", "number", job_number),
        Column("~Name", "name"),
        Column("State", "state"),
        Column("~Reason", "", lambda row: progress(row) or why(row)),
        Column("Team", "team"),
        Column("Owner", "owner", person),
        Column(">Elapsed", "", _run_for),
        Column(">Submitted", "created_at", ago),
    ),
)
ATTEMPTS = Listing(
    "AttemptShape",
    "id",
    (
        Column(">Task", "index"),
        Column(">Attempt", "ordinal"),
        Column("State", "state"),
        Column("Node", "", _where),
        Column(">Elapsed", "", _run_for),
        Column(">Exit code", "exit_code"),
    ),
)


@app.command("info")
def info(session: Session, job: Name) -> None:
    """Show all details of a job."""
    row = session.client.jobs.get(job, advice=True).raw
    parts: list[str | Table] = [
        Table([f"#{row['number']}", f"~{clean(row['name'])}"], _facts(session, row), wraps=True)
    ]
    if len(row["attempts"]) > 1:
        parts += ["", ATTEMPTS.table(row["attempts"])]
    if suggestions := row.get("suggestions"):
        parts += ["", suggestion_lines(suggestions)]
    session.show(row, parts, [row["number"]])


@app.command("outputs")
def outputs(session: Session, job: Name) -> None:
    """List what a job writes to its outputs, and the versions made of it."""
    rows = session.client.jobs.outputs(job)
    versions = [(row, version) for row in rows for version in row["versions"]]
    texts = [f"{row['name']}: {row['text']}" for row in rows if row["text"]]
    cells = [
        [
            row["name"] if not row["index"] else f"{row['name']} [{row['index']}]",
            f"{row['repository']}@{version['version']}",
            version["message"],
            version["files"],
            size(version["bytes"]),
            ", ".join(["latest"] * version["is_latest"] + ["best"] * version["is_best"]),
            ago(version["created_at"]),
        ]
        for row, version in versions
    ]
    columns = ["Output", "Version", "~Message", ">Files", ">Size", "Kept as", ">Created"]
    empty = "This job has no outputs." if not rows else "Nothing was saved yet."
    names = [f"{row['repository']}@{version['version']}" for row, version in versions]
    session.show({"items": rows}, [*map(clean, texts), Table(columns, cells, empty)], names)


@app.command("cancel")
def cancel(
    session: Session,
    jobs: Names,
    why: Annotated[
        str, Option("--why", metavar="TEXT", help="Reason, recorded with the event.")
    ] = "",
) -> None:
    """Cancel jobs."""
    _show_rows(session, [session.client.jobs.cancel(job, why) for job in jobs])


@app.command("keep")
def keep(
    session: Session,
    job: Name,
    for_: Annotated[str, Argument(metavar="DURATION", help="Such as 2h or 90m; at most 72h.")],
) -> None:
    """Keep a job that a rule for idle GPUs would stop."""
    done = session.client.jobs.keep(job, seconds(for_) / 3600)
    session.show(done, f"#{done['number']} is kept until {done['keep_until']}.", [done["number"]])


@app.command("hold")
def hold(session: Session, jobs: Names) -> None:
    """Hold jobs: keep them queued until they are released."""
    _show_rows(session, [session.client.jobs.hold(job) for job in jobs])


@app.command("release")
def release(session: Session, jobs: Names) -> None:
    """Release held jobs."""
    _show_rows(session, [session.client.jobs.release(job) for job in jobs])


@app.command("rerun")
def rerun(session: Session, job: Name, changes: Changes = None, wait: Stays = False) -> int:
    """Submit a copy of a job, with changes from --set."""
    jobs = session.client.jobs
    spec = changed(jobs.get(job).raw["spec"], changes) if changes else None
    return after_submit(session, jobs.rerun(job, spec), follow=wait)


@app.command("wait")
def wait(
    session: Session,
    jobs: Names,
    timeout: Annotated[
        float | None, Option("--timeout", metavar="SECONDS", help="Exit with 124 after this time.")
    ] = None,
) -> int:
    """Wait until all jobs end. Exits with the code of the first that did not succeed."""
    rows: list[Job] = []
    for name in jobs:
        try:
            rows.append(session.client.jobs.wait(name, timeout=timeout))
        except TimeoutError as error:
            session.echo(str(error))
            return 124
        session.echo(ending(rows[-1].raw))
    if session.json or session.quiet:
        session.show(_one_or_all([row.raw for row in rows]), ids=[row.number for row in rows])
    return next((row.return_code for row in rows if row.return_code), 0)


@app.command("attach")
def attach(session: Session, job: Name) -> int:
    """Follow a job until it ends.

    Streams its log from the beginning, like `muster run`.
    """
    return follow_job(session, session.client.jobs.get(job))


@app.command("exec", context_settings={"allow_interspersed_args": False})
def exec_in(
    session: Session,
    job: Name,
    command: Annotated[list[str], Argument(metavar="[--] CMD")],
    timeout: Annotated[float, Option("--timeout", metavar="SECONDS", min=0.1)] = 30,
    index: Annotated[int, Option("--index", min=0, metavar="N", help="Array task.")] = 0,
) -> int:
    """Run a command in a running job's directory and environment."""
    result = session.client.jobs.exec(
        job, command[1:] if command[0] == "--" else command, timeout=timeout, index=index
    )
    if session.json:
        session.show(result)
    else:
        sys.stdout.write(result["output"])
    return int(result["exit_code"]) & 0xFF


@app.command("compare")
def compare(session: Session, jobs: Names) -> None:
    """Compare 2 to 10 jobs: what differs in their configuration, and their metrics."""
    found = session.client.jobs.compare(jobs)
    runs = found["runs"]
    rows: list[list[object]] = [
        ["Name", *(run["name"].partition(" ")[2] for run in runs)],
        ["State", *(run["state"] for run in runs)],
        ["Owner", *(run["owner"]["email"] for run in runs)],
        ["Elapsed", *(_elapsed(run["duration_seconds"]) for run in runs)],
        ["GPUs", *(run["gpus"] for run in runs)],
        ["GPU utilization", *(_percent(run["gpu_utilization"]) for run in runs)],
    ]
    rows += [
        [change["key"], *("" if value is None else clean(value) for value in change["values"])]
        for change in found["differences"]
    ]
    rows += [
        [f"{name} (best)", *(best_value(run, name, found["best"]) for run in runs)]
        for name in found["metrics"]
    ]
    table = Table(["~", *(f"#{run['number']}" for run in runs)], rows, wraps=True)
    session.show(found, table, [run["number"] for run in runs])


@app.command("open")
def open_page(session: Session, job: Name) -> None:
    """Open the job's page in a browser."""
    import webbrowser

    row = session.client.jobs.get(job)
    url = f"{session.client.url}{row.page}"
    is_open = sys.stdout.isatty() and webbrowser.open(url)
    session.show({"url": url, "opened": bool(is_open)}, url, [row.number])


def _elapsed(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _percent(part: float | None) -> str:
    return "" if part is None else f"{part:.0%}"


def _page(session: Session, limit: int, cursor: str | None, filters: Json) -> Json:
    """Return up to `limit` jobs in the API's format, merging pages if needed."""
    found: Json = {"items": [], "next": cursor, "previous": None}
    while True:
        most = min(limit - len(found["items"]), 200)
        page = session.client.get("jobs", limit=most, cursor=found["next"], **filters)
        found = page | {"items": found["items"] + page["items"]}
        if not page["next"] or len(found["items"]) >= limit or not page["items"]:
            return found


def _show_jobs(session: Session, found: Json, *, is_filtered: bool) -> None:
    empty = (
        "No matching jobs. To see all jobs: muster job list"
        if is_filtered
        else f"No jobs in {session.client.org} yet. Run one: muster run -- echo hello"
    )
    session.show_list(found, JOBS, empty)


def _facts(session: Session, row: JobDetailShape) -> list[tuple[str, object]]:
    facts = [
        ("State", row["state_text"] or row["state"]),
        ("Tasks", progress(row)),
        ("Reason", why(row)),
        ("Expected start", start["text"] if (start := row.get("expected_start")) else None),
        ("Next step", advice(row)),
        ("In use by", holders(row)),
        ("Owner", f"{row['owner']['email']}, team {row['team']}"),
        ("Resources", held(row["resources"])),
        ("Image", row["image"]),
        ("Node", " ".join(filter(None, [row["cluster"], _where(row)]))),
        ("Priority", row["priority"]),
        ("Labels", " ".join(f"{k}={v}" for k, v in row["labels"].items())),
        ("Kind", row["kind"] if row["kind"] != "batch" else None),
        ("Origin", "{kind} {label}".format_map(origin) if (origin := row["origin"]) else None),
        ("After", " ".join(f"#{n}" for n in row["after"])),
        ("Submitted", ago(row["created_at"])),
        ("Elapsed", _run_for(row)),
        ("Exit code", row["exit_code"]),
        ("Attempts", row["attempt_count"] if row["attempt_count"] > 1 else None),
        ("Page", f"{session.client.url}{row['page']}"),
    ]
    return [(name, value) for name, value in facts if value not in (None, "")]


def _show_rows(session: Session, jobs: list[Job]) -> None:
    rows = [job.raw for job in jobs]
    lines = [ending(row) if row["state"] in FINAL else brief(row) for row in rows]
    session.show(_one_or_all(rows), "\n".join(lines), [row["number"] for row in rows])


def _one_or_all(rows: list[JobDetailShape]) -> Any:
    return rows[0] if len(rows) == 1 else {"items": rows}


def _checked_spec(session: Session, text: str) -> Json:
    result = session.client.jobs.validate(text)
    if result["spec"] is None:
        raise InvalidInput("The file has errors.", errors=result["errors"], code="invalid_spec")
    return result["spec"]


def _format_errors(session: Session, file: str, text: str, error: MusterError) -> str:
    """Format validation errors with line numbers, from the answer or a separate validation."""
    faults: Sequence[Mapping[str, Any]] = error.errors
    if not any(fault.get("line") for fault in faults):
        result = session.client.jobs.validate(text)
        faults = faults if result["ok"] else result["errors"]
    suggestions = error.message.partition("\n")[2]
    count = "1 error" if len(faults) == 1 else f"{len(faults)} errors"
    return "\n".join(
        filter(
            None,
            [
                f"{clean(file)} has {count}. The job was not submitted.",
                shown_faults(file, text, faults),
                suggestions,
            ],
        )
    )
