"""`muster runs …`: search runs, show and log metrics, copy files, compare and reproduce."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import best_value, clean, duration, size

COMMANDS = {
    "runs": ("app", 140, "Search, compare and reproduce runs; log to them; copy files."),
}
app = Commands(help="Search, compare and reproduce runs; log to them and copy their files.")
Name = Annotated[str, Argument(metavar="RUN", help="Id of a run, or #12 for the run of a job.")]
Names = Annotated[list[str], Argument(metavar="RUN", help="Ids of runs, or #12 for jobs.")]
Pairs = list[str] | None


@app.command("list")
def list_runs(
    session: Session,
    filter: Annotated[  # noqa: A002  as MLflow names it
        str,
        Argument(metavar="[FILTER]", help="Such as \"metrics.acc > 0.9 and params.lr = '3e-4'\"."),
    ] = "",
    experiment: Annotated[
        list[str] | None,
        Option("--experiment", "-e", metavar="NAME", help="Number or name. Repeatable."),
    ] = None,
    order: Annotated[
        list[str] | None,
        Option("--sort", metavar="KEY", help='Such as "metrics.loss ASC". Repeatable.'),
    ] = None,
    column: Annotated[
        list[str] | None,
        Option(
            "--column", "-c", metavar="KEY", help="Such as metrics.loss, params.lr. Repeatable."
        ),
    ] = None,
    archived: Annotated[bool, Option("--archived", help="Also archived runs.")] = False,
    limit: Annotated[int, Option("--limit", "-l", min=1, metavar="N", help="Maximum number.")] = 50,
) -> None:
    """List runs, newest first."""
    found = list(
        session.client.runs.search(
            filter,
            experiments=experiment or (),
            order_by=order or (),
            most=limit,
            archived="true" if archived else None,
        )
    )
    shown = column or _common_metrics(found)
    columns = ["Run", "~Name", "State", ">Experiment", "Duration", *shown]
    rows = (
        [r["id"], r["name"], r["state"], r["experiment"], _duration(r)]
        + [_value(r, key) for key in shown]
        for r in found
    )
    session.show({"items": found}, Table(columns, rows, "No runs."), [r["id"] for r in found])


@app.command("show")
def show(session: Session, run: Name) -> None:
    """Show a run: params, last metrics, tags."""
    row = session.client.runs.get(run)
    facts = [
        ["Run", row["id"]],
        ["Name", row["name"]],
        ["State", row["state"]],
        ["Experiment", row["experiment"]],
        ["Team", row["team"]],
        ["Owner", row["owner"]["email"]],
        ["Job", "" if row["job"] is None else f"#{row['job']}"],
        ["Duration", _duration(row)],
        *([f"params.{name}", value] for name, value in sorted(row["params"].items())),
        *([f"metrics.{name}", _value(row, f"metrics.{name}")] for name in sorted(row["metrics"])),
        *([f"tags.{name}", value] for name, value in sorted(row["tags"].items())),
        ["Page", f"{session.client.url}{row['page']}"],
    ]
    session.show(row, Table(["", "~"], facts, wraps=True), [row["id"]])


@app.command("metrics")
def metrics(
    session: Session,
    run: Name,
    names: Annotated[
        list[str] | None, Argument(metavar="[NAME]…", help="Print all points of these.")
    ] = None,
    points: Annotated[
        int, Option("--points", min=1, max=100_000, metavar="N", help="Maximum of each curve.")
    ] = 100_000,
) -> None:
    """List the metrics of a run, or print their points.

    With names, their points are printed as a table.
    """
    if not names:
        last = session.client.runs.get(run)["metrics"]
        rows = ([name, p["value"], p["step"]] for name, p in sorted(last.items()))
        session.show(last, Table(["Metric", ">Last", ">Step"], rows, "No metrics."), sorted(last))
        return
    found = session.client.runs.metrics(run, names, max_points=points)
    table = Table(
        ["Metric", ">Step", ">Unix ms", ">Value"],
        (
            [curve["name"], step, at, value]
            for curve in found
            for step, at, value in zip(
                curve["steps"] or [""] * len(curve["times"]),
                curve["times"],
                curve["values"],
                strict=True,
            )
        ),
        "No points.",
    )
    session.show({"series": found}, table, [curve["name"] for curve in found])


@app.command("log")
def log(
    session: Session,
    run: Name,
    values: Annotated[
        list[str] | None, Argument(metavar="[METRIC=VALUE]…", help="Such as loss=0.3.")
    ] = None,
    step: Annotated[int, Option("--step", metavar="N", help="Of all metrics.")] = 0,
    param: Annotated[
        Pairs, Option("--param", "-p", metavar="NAME=VALUE", help="Set once. Repeatable.")
    ] = None,
    tag: Annotated[Pairs, Option("--tag", metavar="NAME=VALUE", help="Repeatable.")] = None,
) -> None:
    """Log metrics, params and tags to a run."""
    at = int(time.time() * 1000)
    numbers = [
        {"name": name, "value": value, "step": step, "at": at}
        for name, value in _pairs(values).items()
    ]
    done = session.client.runs.log(run, numbers, _pairs(param), _pairs(tag))
    counts = [f"{n} {kind if n > 1 else kind[:-1]}" for kind, n in done.items() if n]
    text = f"Logged {', '.join(counts) or 'nothing'}."
    session.show(done, text, [run])


@app.command("artifacts")
def artifacts(
    session: Session,
    run: Name,
    folder: Annotated[str, Argument(metavar="[FOLDER]", help="Default: the top.")] = "",
) -> None:
    """List the files and folders of a run."""
    found = session.client.runs.artifacts(run, folder)
    rows = (
        [f"{e['path']}/" if e["is_folder"] else e["path"], size(e["bytes"]), e["files"]]
        for e in found["entries"]
    )
    table = Table(["~Path", ">Size", ">Files"], rows, "No files.")
    session.show(found, table, [e["path"] for e in found["entries"]])


@app.command("upload")
def upload(
    session: Session,
    run: Name,
    path: Annotated[Path, Argument(metavar="PATH", help="A file or folder here.")],
    to: Annotated[str, Option("--to", metavar="FOLDER", help="Folder of the run.")] = "",
) -> None:
    """Store a file or a whole folder with a run."""
    if not path.exists():
        raise InvalidInput(f"There is no {path}.")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    base = path.resolve().parent
    stored = []
    for file in files:
        name = "/".join(
            [*filter(None, [to.strip("/")]), file.resolve().relative_to(base).as_posix()]
        )
        stored.append(session.client.runs.upload(run, name, file))
        session.echo(f"{name}  {size(stored[-1]['bytes'])}")
    session.show({"items": stored}, f"Stored {len(stored)} files.", [s["path"] for s in stored])


@app.command("download")
def download(
    session: Session,
    run: Name,
    path: Annotated[str, Argument(metavar="[PATH]", help="A file or folder; default: all.")] = "",
    to: Annotated[Path, Option("--to", metavar="DIR", help="Default: here.")] = Path(),
) -> None:
    """Copy files of a run to this machine."""
    saved = []
    for entry in session.client.runs.files(run, path):
        file = _inside(to, entry["path"])
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_name(f".{file.name}.part")
        with open(aside, "wb") as out:
            out.writelines(session.client.runs.read(run, entry["path"]))
        if aside.stat().st_size != entry["bytes"]:
            raise InvalidInput(f"{entry['path']} arrived incomplete. Run the command again.")
        os.replace(aside, file)
        saved.append(str(file))
        session.echo(f"{file}  {size(entry['bytes'])}")
    session.show({"items": saved}, f"Saved {len(saved)} files.", saved)


@app.command("compare")
def compare(session: Session, runs: Names) -> None:
    """Compare 2 to 10 runs.

    Shows what differs in their configuration, and their metrics.
    """
    found = session.client.runs.compare(runs)
    compared = found["runs"]
    rows: list[list[object]] = [["Name", *(run["name"] for run in compared)]]
    rows += [["State", *(run["state"] for run in compared)]]
    rows += [
        [change["key"], *("" if value is None else clean(value) for value in change["values"])]
        for change in found["differences"]
    ]
    rows += [
        [f"{name} (best)", *(best_value(run, name, found["best"]) for run in compared)]
        for name in found["metrics"]
    ]
    table = Table(["~", *(str(run["id"])[:8] for run in compared)], rows, wraps=True)
    session.show(found, table, [run["id"] for run in compared])


@app.command("reproduce")
def reproduce(session: Session, run: Name) -> None:
    """Submit the job of a run again.

    The spec is the same, with the image named by its digest and each input by its version.
    """
    job, changes = session.client.runs.reproduce(run)
    pinned = "".join(f" {name} is {value}." for name, value in changes.items())
    text = f"Submitted job #{job['number']}.{pinned} Follow it: muster job logs -f {job['number']}"
    session.show(job, text, [job["number"]])


def _pairs(texts: list[str] | None) -> dict[str, str]:
    """Return NAME=VALUE pairs. Raises InvalidInput."""
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InvalidInput(f"{text!r} must have the form NAME=VALUE.")
        found[name] = value
    return found


def _inside(folder: Path, name: str) -> Path:
    """Return the path of a file below a folder. Raises InvalidInput for any other."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InvalidInput(f"The name {name!r} leads out of {folder}.")
    return path


def _common_metrics(rows: list[Json]) -> list[str]:
    """Return up to three metrics that most runs have."""
    counts: dict[str, int] = {}
    for row in rows:
        for name in row["metrics"]:
            counts[f"metrics.{name}"] = counts.get(f"metrics.{name}", 0) + 1
    return sorted(counts, key=lambda key: (-counts[key], key))[:3]


def _value(row: Json, key: str) -> str:
    kind, _, name = key.partition(".")
    value = row.get(kind, {}).get(name) if isinstance(row.get(kind), dict) else row.get(key)
    if isinstance(value, dict):
        value = value["value"]
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _duration(row: Json) -> str:
    end = row["ended_ms"] or time.time() * 1000
    return duration((end - row["started_ms"]) / 1000)
