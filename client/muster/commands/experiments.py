"""`muster experiment …`: list and manage experiments, and import them from MLflow."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.mlflow_import import Import
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {"experiment": ("app", 130, "Manage experiments; import from an MLflow server.")}
app = Commands(help="List and manage experiments; import them from an MLflow server.")
Name = Annotated[str, Argument(metavar="EXPERIMENT", help="Number or name.")]


@app.command("list")
def list_experiments(
    session: Session,
    search: Annotated[
        str | None, Option("--search", metavar="TEXT", help="Number or part of the name.")
    ] = None,
    limit: Annotated[int, Option("--limit", "-l", min=1, metavar="N", help="Maximum number.")] = 50,
) -> None:
    """List experiments, newest first."""
    found = list(session.client.experiments.list(most=limit, team=session.team, q=search))
    rows = (
        [e["number"], e["name"], e["team"], e["runs"], e["running"] or "", ago(e["last_run_at"])]
        for e in found
    )
    columns = [">#", "~Name", "Team", ">Runs", ">Running", "Last run"]
    empty = "No experiments yet. A job creates one, or: muster experiment create NAME"
    session.show({"items": found}, Table(columns, rows, empty), [e["number"] for e in found])


@app.command("show")
def show(session: Session, experiment: Name) -> None:
    """Show an experiment."""
    row = session.client.experiments.get(experiment)
    facts = [
        ["Number", row["number"]],
        ["Name", row["name"]],
        ["Team", row["team"]],
        ["Owner", row["owner"]["email"]],
        ["Runs", f"{row['runs']}, {row['running']} running"],
        ["Created", ago(row["created_at"])],
        *([name, value] for name, value in sorted(row["tags"].items())),
        ["Description", row["description"]],
        ["Page", f"{session.client.url}{row['page']}"],
    ]
    session.show(row, Table(["", "~"], facts, wraps=True), [row["number"]])


@app.command("create")
def create(
    session: Session,
    name: Annotated[str, Argument(metavar="NAME")],
    description: Annotated[str, Option("--description", metavar="TEXT")] = "",
) -> None:
    """Create an experiment of a team."""
    made = session.client.experiments.create(name, description=description, team=session.team)
    text = f"Created experiment {made['number']} {made['name']} of team {made['team']}."
    session.show(made, text, [made["number"]])


@app.command("delete")
def delete(session: Session, experiment: Name) -> None:
    """Move an experiment and its runs to the trash."""
    row = session.client.experiments.delete(experiment)
    text = f"Moved {row['name']} to the trash. Undo: muster experiment restore {row['number']}"
    session.show(row, text, [row["number"]])


@app.command("restore")
def restore(
    session: Session, number: Annotated[int, Argument(metavar="NUMBER", help="Its number.")]
) -> None:
    """Take an experiment and its runs out of the trash."""
    row = session.client.experiments.restore(number)
    session.show(row, f"Restored {row['name']}.", [row["number"]])


@app.command("import")
def import_(
    session: Session,
    url: Annotated[str, Argument(metavar="URL", help="Address of the MLflow server.")],
    experiment: Annotated[
        list[str] | None,
        Option("--experiment", "-e", metavar="NAME", help="Only this experiment. Repeatable."),
    ] = None,
    artifacts: Annotated[
        bool, Option("--artifacts/--no-artifacts", help="Also copy files. Default: yes.")
    ] = True,
    models: Annotated[
        bool, Option("--models/--no-models", help="Also copy registered models. Default: yes.")
    ] = True,
) -> int:
    """Import experiments, runs, files and models from an MLflow server.

    Repeat it to add what is new there. The server's credentials are those of MLflow's clients:
    MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD.
    """
    work = Import(session.client, url, team=session.team, say=session.echo)
    done = work.run(experiment or [], with_artifacts=artifacts, with_models=models)
    lines = [
        (
            f"{done.experiments} experiments, {done.runs} runs ({done.new_runs} new), "
            f"{done.points} new points, {done.files} new files, {done.versions} new model versions."
        ),
        *(f"Not imported: {text}" for text in done.failures),
    ]
    session.show(done.as_dict(), lines, done.run_ids)
    return 1 if done.failures else 0
