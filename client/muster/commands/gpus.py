"""GPU capacity, and single GPUs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from typer import Argument, Option

from muster.errors import Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import size, span

COMMANDS = {"gpu": ("gpus", 280, "Show GPU capacity, list GPUs, and see what a GPU does.")}
gpus = Commands(help="Show GPU capacity, list GPUs, and see what a GPU does.")


@gpus.command("capacity")
def show_capacity(session: Session) -> None:
    """Show free GPUs by class, cluster and pool, and when more becomes free."""
    found: Json = {"items": session.client.gpus.capacity(), "next": None}
    now = datetime.now(UTC).isoformat()
    rows = (
        [
            row["type"],
            f"{row['cluster']}/{row['pool']}" if row["pool"] else row["cluster"],
            f"{row['free']}/{row['total']}",
            str(row["reserved"]),
            str(row["largest_on_one_node"]),
            ", ".join(f"{end['gpus']} in {span(now, end['at'])}" for end in row["next_free"][:2])
            or "-",
        ]
        for row in found["items"]
    )
    table = Table(
        ["GPU", "Cluster/pool", ">Free", ">Reserved", ">Most on one node", "Free next"],
        rows,
        "No GPUs yet. An operator has to connect a cluster with GPUs.",
    )
    session.show(found, table, [row["type"] for row in found["items"]])


@gpus.command("fleet")
def show_fleet(
    session: Session,
    by: Annotated[str, Option(metavar="GROUP", help="model, rack, pool or cluster.")] = "model",
) -> None:
    """Show measurements of all GPUs, summed up by group."""
    found: Json = {"items": session.client.gpus.fleet(by), "next": None}
    rows = (
        [
            row["name"],
            str(row["gpus"]),
            str(row["lost"]),
            _share(row["utilization"]),
            _share(row["sm_active"]),
            _share(row["memory_used"]),
            f"{row['power'] / 1000:.1f} kW" if row["power"] is not None else "-",
            f"{row['hottest']:.0f} °C" if row["hottest"] is not None else "-",
            str(row["throttled"]),
        ]
        for row in found["items"]
    )
    table = Table(
        [
            by.capitalize(),
            *[">GPUs", ">Lost", ">Util", ">SM", ">Memory", ">Power", ">Hottest", ">Throttled"],
        ],
        rows,
        "No GPUs reported yet. Run muster-agent on the nodes.",
    )
    session.show(found, table, [row["name"] for row in found["items"]])


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


@gpus.command("list")
def list_gpus(
    session: Session,
    node: Annotated[str, Option(metavar="NODE", help="Only those of a node.")] = "",
    model: Annotated[str, Option(metavar="MODEL", help="Only this model, such as h100.")] = "",
    state: Annotated[
        str, Option(metavar="STATE", help="ready, drained, down or lost (not responding).")
    ] = "",
) -> None:
    """List GPUs with their MIG layout, use and jobs."""
    asked = {"node": node, "model": model, "state": state}
    found: Json = {
        "items": session.client.gpus.list(**{k: v for k, v in asked.items() if v}),
        "next": None,
    }
    rows = (
        [
            f"{row['node']}/{row['index']}",
            row["type"],
            row["state"],
            " ".join(part["profile"] for part in row["mig"]) if row["mig"] is not None else "full",
            f"{row['utilization']:.0%}" if row["utilization"] is not None else "-",
            f"{size(row['memory_used'] or 0)}/{size(row['memory'])}",
            " ".join(f"#{job['number']}" for job in row["jobs"]) or "-",
            row["uuid"],
        ]
        for row in found["items"]
    )
    table = Table(
        ["GPU", "Model", "State", "MIG", ">Util", ">Memory", "Jobs", "UUID"],
        rows,
        "No GPUs reported yet. Run muster-agent on the nodes.",
    )
    session.show(found, table, [row["uuid"] for row in found["items"]])


@gpus.command("show")
def show_gpu(session: Session, uuid: Annotated[str, Argument(metavar="UUID")]) -> None:
    """Show one GPU: what it is, its use, and the jobs on it."""
    row = session.client.gpus.get(uuid)
    names = ("model", "state", "cluster", "serial", "pci", "numa", "links", "driver")
    facts = [(name, str(row[name])) for name in names if row[name] not in (None, "")]
    facts += [
        ("memory", f"{size(row['memory_used'] or 0)} of {size(row['memory'])}"),
        ("jobs", " ".join(f"#{job['number']}" for job in row["jobs"]) or "none"),
        *(
            (f"before: #{job['number']}", f"{job['name']} {job['state']}")
            for job in row["past_jobs"]
        ),
    ]
    session.show(row, Table(["GPU", f"{row['node']}/{row['index']}"], facts), [row["uuid"]])
