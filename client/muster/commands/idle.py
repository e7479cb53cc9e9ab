"""`muster idle`: running jobs with idle GPUs."""

from __future__ import annotations

from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {"idle": ("app", 120, "List running jobs with idle GPUs.")}
app = Commands(help="List running jobs with idle GPUs.")
_NOTHING = "No running job has had GPUs below 10% for 30 minutes."


@app.command("idle")
def list_idle(session: Session) -> None:
    """List running jobs whose GPUs have been below 10% for 30 minutes or longer."""
    found = session.client.get("idle-gpus")
    rows = (
        [
            f"#{row['number']}",
            row["name"],
            row["owner"]["email"],
            row["team"],
            f"{row['gpus']} of {row['gpus_total']}",
            f"{row['hours']:g}",
            ago(row["since"]),
        ]
        for row in found["items"]
    )
    columns = ["Job", "~Name", "~Owner", "Team", ">Idle GPUs", ">GPU-hours", ">Since"]
    session.show(found, Table(columns, rows, _NOTHING), [row["number"] for row in found["items"]])
