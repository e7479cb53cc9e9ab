"""`muster storage`: what takes the space, and what nothing refers to."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from muster.options import Commands
from muster.output import Session, Table
from muster.wording import amount

COMMANDS = {
    "storage": ("app", 70, "Show what takes the space, and what nothing refers to."),
}
app = Commands(help="Show what takes the space, and what nothing refers to.")


@app.command("storage")
def storage(
    session: Session,
    unused: Annotated[bool, Option("--unused", help="What nothing refers to.")] = False,
    limit: Annotated[int, Option("--limit", "-l", min=1, max=200, metavar="N")] = 20,
) -> None:
    """Show what takes the space of the organization, or of --team."""
    found = session.client.storage(limit=limit, team=session.team or "")
    totals = Table(
        ["Kind", ">Number", ">Size"],
        [[row["kind"], row["count"], amount(row["bytes"], "bytes")] for row in found["totals"]],
    )
    rows = found["unused" if unused else "largest"]
    cells = (
        [
            row["title"],
            row["kind"],
            amount(row["bytes"], "bytes") if row["bytes"] else "",
            row["team"],
            f"{row['reason']}. {row['step']}: {row['page']}" if unused else row["detail"],
        ]
        for row in rows
    )
    columns = ["~Name", "Kind", ">Size", "Team", "~Why and next step" if unused else "~Details"]
    table = Table(columns, cells, "Nothing is unused." if unused else "Nothing is stored yet.")
    session.show(found, [table] if unused else [totals, "", table], [row["title"] for row in rows])
