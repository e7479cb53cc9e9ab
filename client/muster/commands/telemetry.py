"""Commands for sources of GPU measurements (operators)."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Exit, Option

from muster.errors import Json
from muster.options import Commands
from muster.output import Session, Table
from muster.streams import read_text
from muster.wording import ago

COMMANDS = {
    "telemetry": (
        "telemetry",
        320,
        "Read GPU measurements from dcgm-exporters and Prometheus (operators).",
    ),
}
telemetry = Commands(help="Read GPU measurements from dcgm-exporters and Prometheus (operators).")
SourceName = Annotated[str, Argument(metavar="NAME")]
Urls = Annotated[
    list[str],
    Option(
        "--address",
        metavar="URL",
        help="Exporters: repeatable, {node} stands for each node. Prometheus: its address.",
    ),
]


@telemetry.command("list")
def list_sources(session: Session) -> None:
    """List the sources, with how their last reading went."""
    found: Json = {"items": session.client.telemetry.list(), "next": None}
    rows = (
        [
            row["name"],
            row["kind"],
            row["cluster"],
            _state(row),
            str(row["nodes"]),
            str(row["samples"]),
            ago(row["read_at"]) if row["read_at"] else "-",
            row["problem"],
        ]
        for row in found["items"]
    )
    table = Table(
        ["Source", "Kind", "Cluster", "State", ">Nodes", ">Values", ">Last read", "~Problem"],
        rows,
        "No sources. Nodes with muster-agent need none.",
    )
    session.show(found, table, [row["name"] for row in found["items"]])


@telemetry.command("add")
def add_source(
    session: Session,
    name: SourceName,
    kind: Annotated[str, Argument(metavar="KIND", help="dcgm or prometheus.")],
    cluster: Annotated[str, Option(metavar="CLUSTER", help="Whose nodes are measured.")],
    url: Urls,
    matchers: Annotated[
        str, Option(metavar="MATCHERS", help="Prometheus: such as 'job=\"dcgm\"'.")
    ] = "",
    interval: Annotated[int, Option(metavar="SECONDS", help="Between two readings.")] = 30,
    token_file: Annotated[
        str, Option(metavar="FILE", help="A file with a bearer token; needs https.")
    ] = "",
) -> None:
    """Add a source. It is read at once, and then regularly."""
    more: Json = {"matchers": matchers, "interval": interval}
    if token_file:
        more["token"] = read_text(token_file).strip()
    made = session.client.telemetry.add(name, kind, cluster, "\n".join(url), **more)
    session.show(made, f"Added {name}. Test it: muster telemetry test {name}", [name])


@telemetry.command("test")
def test_source(session: Session, name: SourceName) -> None:
    """Read a source once and show what was found. Exit code 6 if it fails."""
    found = session.client.telemetry.test(name)
    rows = (
        [one["node"], str(one["gpus"]), one["driver"] or "-", " ".join(one["metrics"])]
        for one in found["nodes"]
    )
    table = Table(["Node", ">GPUs", "Driver", "~Metrics"], rows, found["problem"])
    session.show(found, table, [one["node"] for one in found["nodes"]])
    if not found["is_ok"]:
        raise Exit(6)


@telemetry.command("fill")
def fill_history(
    session: Session,
    name: SourceName,
    since: Annotated[str, Option(metavar="TIME", help="ISO 8601, such as 2027-01-31T00:00Z.")],
) -> None:
    """Read the history of a Prometheus, the latest day first."""
    found = session.client.telemetry.fill(name, since)
    session.show(found, f"Reading the history of {name} since {since}.", [name])


@telemetry.command("disable")
def disable_source(session: Session, name: SourceName) -> None:
    """Stop reading a source."""
    found = session.client.telemetry.change(name, is_enabled=False)
    session.show(found, f"Disabled {name}. To undo: muster telemetry enable {name}", [name])


@telemetry.command("enable")
def enable_source(session: Session, name: SourceName) -> None:
    """Read a source again."""
    found = session.client.telemetry.change(name, is_enabled=True)
    session.show(found, f"Enabled {name}.", [name])


@telemetry.command("remove")
def remove_source(session: Session, name: SourceName) -> None:
    """Remove a source. Its measurements are kept."""
    session.client.telemetry.remove(name)
    session.show({"removed": name}, f"Removed {name}.", [name])


def _state(row: Json) -> str:
    if not row["is_enabled"]:
        return "disabled"
    return "failing" if row["problem"] else "reading" if row["read_at"] else "not read yet"
