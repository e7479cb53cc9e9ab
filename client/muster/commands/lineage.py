"""`muster lineage REF`: what something was made from, and what was made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Option

from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {
    "lineage": ("app", 60, "Show what something was made from, and what came of it."),
}
app = Commands(help="Show what something was made from, and what was made from it.")


@app.command("lineage")
def lineage(
    session: Session,
    reference: Annotated[
        str,
        Argument(
            metavar="REF",
            help="dataset:NAME@VERSION, checkpoint:NAME@VERSION, job:NUMBER, run:ID or "
            "model:TEAM/NAME@VERSION.",
        ),
    ],
    depth: Annotated[
        int | None, Option("--depth", min=1, max=50, metavar="N", help="Steps each way.")
    ] = None,
) -> None:
    """Show what a version, job, run or model was made from, and what was made from it."""
    found = session.client.lineage(reference, depth=depth)
    nodes = {node["id"]: node for node in found["nodes"]}
    notes = [f"{found['hidden']} that you can't see."] if found["hidden"] else []
    if found["is_cut"]:
        notes.append("Not complete: there is more beyond this.")
    rows = [_row("", nodes[found["of"]])]
    rows += [_row(indent, node) for indent, node in _tree(found, nodes, "target", "source")]
    rows += [_row(indent, node) for indent, node in _tree(found, nodes, "source", "target")]
    session.show(
        found,
        [Table(["~", "Kind", "~Details", "Created"], rows), *notes],
        [node["id"] for node in found["nodes"] if node["kind"] != "hidden"],
    )


def _row(indent: str, node: dict[str, Any]) -> list[object]:
    title = f"{node['count']} hidden" if node["kind"] == "hidden" else node["title"]
    created = ago(node["created_at"]) if node["created_at"] else ""
    kind = node["kind"].replace("_", " ")
    return [f"{indent}{title}", kind, node["state"] or node["detail"], created]


def _tree(
    found: dict[str, Any], nodes: dict[str, Any], near: str, far: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the nodes on one side, each once, indented below the node that they are next to."""
    arrow = "← " if far == "source" else "→ "
    beside: dict[str, list[str]] = {}
    for link in found["links"]:
        beside.setdefault(link[near], []).append(link[far])
    seen = {found["of"]}
    waiting = [(1, one) for one in reversed(beside.get(found["of"], []))]
    while waiting:
        level, name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield "  " * level + arrow, nodes[name]
        waiting += [(level + 1, one) for one in reversed(beside.get(name, []))]
