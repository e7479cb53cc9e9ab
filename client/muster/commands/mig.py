"""Plan how GPUs are partitioned (MIG), apply plans and follow them."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated

from typer import Argument, Exit, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {"mig": ("app", 290, "Plan and apply the partitioning of GPUs (operators).")}
app = Commands(help="Plan and apply the partitioning of GPUs (operators).")
PlanId = Annotated[str, Argument(metavar="PLAN")]
ACTIVE = ("draft", "applying")


@app.command("plan")
def plan(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    want: Annotated[
        list[str],
        Option("--want", metavar="PROFILE:N", help="Such as 1g.10gb:14, or full:2. Repeatable."),
    ],
    node: Annotated[
        list[str] | None, Option("--node", metavar="NODE", help="Only this node. Repeatable.")
    ] = None,
) -> None:
    """Draft a plan: which GPUs change and which nodes drain. Changes nothing."""
    wish: dict[str, int] = {}
    for text in want:
        profile, _, number = text.rpartition(":")
        if not profile or not number.isdigit():
            raise InvalidInput("--want is written PROFILE:N, such as 1g.10gb:14")
        wish[profile] = wish.get(profile, 0) + int(number)
    _show(session, session.client.mig.plan(cluster, wish, node))


@app.command("list")
def list_plans(session: Session) -> None:
    """List the latest plans."""
    found: Json = {"items": session.client.mig.plans(), "next": None}
    rows = (
        [
            row["id"],
            row["state"],
            row["cluster"],
            "undo" if row["undoes"] else ", ".join(f"{n} × {k}" for k, n in row["wish"].items()),
            row["started_by"] or row["created_by"],
            ago(row["created_at"]),
        ]
        for row in found["items"]
    )
    table = Table(
        ["Plan", "State", "Cluster", "Wish", "By", ">Created"],
        rows,
        "No plans yet. Draft one: muster mig plan CLUSTER --want 1g.10gb:14",
    )
    session.show(found, table, [row["id"] for row in found["items"]])


@app.command("show")
def show(session: Session, plan_id: PlanId) -> None:
    """Show a plan: each GPU before and after, and how far each node is."""
    _show(session, session.client.mig.get(plan_id))


@app.command("apply")
def apply(
    session: Session,
    plan_id: PlanId,
    wait: Annotated[bool, Option("--wait", help="Wait until the plan is finished.")] = False,
) -> None:
    """Apply a draft, node by node. With --wait, exit with 1 if it fails."""
    row = session.client.mig.act(plan_id, "apply")
    while wait and row["state"] == "applying":
        time.sleep(3)
        row = session.client.mig.get(plan_id)
    _show(session, row)
    if row["state"] == "failed":
        raise Exit(1)


@app.command("undo")
def undo(session: Session, plan_id: PlanId) -> None:
    """Draft the plan back to the layout before."""
    _show(session, session.client.mig.act(plan_id, "undo"))


@app.command("stop")
def stop(session: Session, plan_id: PlanId) -> None:
    """Leave out the nodes that have not been changed yet."""
    _show(session, session.client.mig.act(plan_id, "stop"))


@app.command("discard")
def discard(session: Session, plan_id: PlanId) -> None:
    """Delete a draft."""
    session.client.mig.act(plan_id, "discard")
    session.show({"discarded": plan_id}, f"Discarded {plan_id}.", [plan_id])


@app.command("confirm")
def confirm(
    session: Session, plan_id: PlanId, node: Annotated[str, Argument(metavar="NODE")]
) -> None:
    """Confirm that you have done the step that a node waits for."""
    _show(session, session.client.mig.act(plan_id, "confirm", node=node))


@app.command("settings")
def settings(
    session: Session,
    cluster: Annotated[str, Argument(metavar="CLUSTER")],
    method: Annotated[
        str, Option("--method", metavar="off|agent|label|hand", help="Who partitions GPUs.")
    ] = "",
    nodes_at_once: Annotated[int | None, Option("--nodes-at-once", metavar="N")] = None,
    drain_minutes: Annotated[
        int | None, Option("--wait-for-jobs", metavar="MINUTES", help="Until jobs have ended.")
    ] = None,
    reconfigure: Annotated[
        bool | None,
        Option("--reconfigure/--no-reconfigure", help="Run scontrol reconfigure (Slurm)."),
    ] = None,
) -> None:
    """Show or change how a cluster's GPUs may be partitioned."""
    given = {
        "method": method or None,
        "nodes_at_once": nodes_at_once,
        "drain_minutes": drain_minutes,
        "may_reconfigure": reconfigure,
    }
    row = session.client.mig.settings(cluster, **{k: v for k, v in given.items() if v is not None})
    facts = [
        (name, ", ".join(value) if isinstance(value, list) else str(value))
        for name, value in row.items()
        if name != "cluster"
    ]
    session.show(row, Table(["Cluster", row["cluster"]], facts), [row["method"]])


def _show(session: Session, row: Json) -> None:
    rows = [
        [
            f"{node['name']}/{gpu['index']}",
            _layout(gpu["before"]),
            _layout(gpu["after"]),
            node["state"] if row["state"] != "draft" else "-",
            node["error"] or node["note"] or " ".join(f"#{job['number']}" for job in node["jobs"]),
        ]
        for node in row["nodes"]
        for gpu in node["gpus"]
    ]
    title = f"Plan {row['id']}: {row['state']}."
    hints = [f"Can't be applied: {text}" for text in row["obstacles"]]
    if row["state"] == "draft" and not hints:
        hints = [f"Apply it: muster mig apply {row['id']}"]
    table = Table(["GPU", "Before", "After", "State", "~Note"], rows, "Nothing to change.")
    session.show(row, table, [row["id"]])
    for line in (title, *hints):
        session.echo(line)
    if row["obstacles"]:
        for text in row["configs"].values():
            session.echo(text.rstrip())


def _layout(layout: list[Json] | None) -> str:
    if layout is None:
        return "full GPU"
    counts = Counter(one["profile"] for one in layout)
    return ", ".join(f"{count} × {name}" for name, count in counts.items()) or "no instances"
