"""Context of the tab Lineage on the pages of versions, jobs, runs and models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from experiments.lineage import DEEPEST, DEPTH, Node, key_of, lineage_of
from experiments.lineage.nodes import KINDS
from jobs.states import JOB
from portal.core.messages import Message
from portal.web.translation import translated

DEPTHS = (1, 3, DEPTH, DEEPEST)


def describe(request: Any, kind: str, pk: UUID) -> dict[str, Any]:
    """Return the context of components/_lineage.html."""
    asked = request.GET.get("depth", "")
    depth = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 3 else DEPTH
    found = lineage_of(
        request.actor, request.org.slug, key_of(kind, pk), depth=min(max(depth, 1), DEEPEST)
    )
    nodes = [_shown(node) for node in found.nodes]
    here = next(node for node in nodes if node["id"] == found.of)
    return {
        "of": found.of,
        "name": reference_of(here),
        "depth": found.depth,
        "depths": DEPTHS,
        "graph": {
            "of": found.of,
            "nodes": nodes,
            "links": [link._asdict() for link in found.links],
        },
        "groups": [
            (title, [node for node in nodes if is_in(node["level"]) and node["id"] != found.of])
            for title, is_in in (
                (Message("Made from", context="text, experiments"), lambda level: level < 0),
                (Message("Used for", context="text, experiments"), lambda level: level > 0),
            )
        ],
        "is_alone": len(nodes) == 1,
        "is_cut": found.is_cut,
        "count": len(nodes),
        "hidden": found.hidden,
        "api": f"/api/v1/orgs/{request.org.slug}/lineage?of={found.of}",
    }


def reference_of(node: dict[str, Any]) -> str:
    """Return how people name a node for the command."""
    if node["kind"] in {"dataset", "checkpoint"}:
        name, _, number = node["title"].rpartition(" v")
        return f"{node['kind']}:{name}@{number}"
    return str(node["id"])


def _shown(node: Node) -> dict[str, Any]:
    kind = KINDS[node.kind]
    title = node.title
    if node.kind == "hidden":
        title = str(
            Message.plural(
                node.count,
                "{n} you can't see",
                "{n} you can't see",
                context="number of things",
                n=node.count,
            )
        )
    return {
        "id": node.id,
        "kind": node.kind,
        "kind_text": str(kind),
        "title": title,
        "detail": node.detail,
        "page": node.page,
        "state": node.state,
        "state_text": translated(JOB[node.state].word) if node.state else "",
        "at": node.at.isoformat() if node.at else "",
        "level": node.level,
        "count": node.count,
        "is_deleted": node.is_deleted,
    }
