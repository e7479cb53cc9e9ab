"""Walk the lineage by levels from one node: upwards to what it was made from, and downwards."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from experiments.lineage import edges as rows
from experiments.lineage.nodes import LineageKey, Node, existing, shown
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

MOST_NODES = 1000
DEPTH, DEEPEST = 10, 50


class Link(NamedTuple):
    """An edge between nodes by their ids: `source` went into `target`."""

    source: str
    target: str
    label: str


@dataclass
class Lineage:
    """A graph around the node `of`; `is_cut` if it goes on beyond the depth or the most nodes."""

    of: str
    depth: int
    nodes: list[Node]
    links: list[Link]
    is_cut: bool = False

    @property
    def hidden(self) -> int:
        """Return how many neighbours the viewer may not see."""
        return sum(node.count for node in self.nodes if node.kind == "hidden")


@dataclass
class _Walk:
    actor: Actor
    org: str
    nodes: dict[LineageKey, Node] = field(default_factory=dict)
    links: dict[tuple[LineageKey, LineageKey], str] = field(default_factory=dict)
    hidden: dict[tuple[LineageKey, bool], set[LineageKey]] = field(
        default_factory=lambda: defaultdict(set)
    )
    is_cut: bool = False

    def go(self, start: LineageKey, depth: int, *, is_up: bool) -> None:
        """Add what is before or after a node, level by level. Cycles end at nodes reached before."""
        level, reached = {start}, {start}
        for distance in range(1, depth + 1):
            found = self._step(level, reached, -distance if is_up else distance)
            reached |= found
            level = found & self.nodes.keys()
            if not level:
                return
        rest = rows.before(level) if is_up else rows.after(level)
        if any((edge.source if is_up else edge.target) not in reached for edge in rest):
            self.is_cut = True

    def _step(
        self, level: set[LineageKey], reached: set[LineageKey], distance: int
    ) -> set[LineageKey]:
        """Add the neighbours of a level; return the keys of those that were not reached before."""
        is_up = distance < 0
        edges = list(rows.before(level) if is_up else rows.after(level))
        data: dict[LineageKey, dict[str, Any]] = {
            edge.source: edge.data for edge in edges if edge.data
        }
        ends = {edge.source if is_up else edge.target for edge in edges}
        new = ends - self.nodes.keys()
        seen = shown(self.actor, self.org, new, data)
        unseen = existing(new - seen.keys())
        for key in sorted(seen, key=str)[: max(MOST_NODES - len(self.nodes), 0)]:
            seen[key].level = distance
            self.nodes[key] = seen[key]
        self.is_cut = self.is_cut or not seen.keys() <= self.nodes.keys()
        for edge in edges:
            far, near = (edge.source, edge.target) if is_up else (edge.target, edge.source)
            if far in self.nodes:
                self.links.setdefault((edge.source, edge.target), edge.label)
            elif far in unseen:
                self.hidden[near, is_up].add(far)
        return ends - reached


def lineage_of(actor: Actor, org: str, start: LineageKey, *, depth: int = DEPTH) -> Lineage:
    """Return what a node was made from, and what was made from it.

    `org` is the slug for the addresses of pages. What the viewer may not see is only counted, and
    not followed. Raises NotFound if that is the node itself.
    """
    walk = _Walk(actor, org)
    walk.nodes.update(shown(actor, org, {start}, {}))
    if start not in walk.nodes:
        raise NotFound(Message("There is nothing {x} that you can see.", x=str(start.id)))
    walk.go(start, depth, is_up=True)
    walk.go(start, depth, is_up=False)
    links = [
        Link(walk.nodes[source].id, walk.nodes[target].id, label)
        for (source, target), label in walk.links.items()
    ]
    nodes = [*walk.nodes.values()]
    for number, ((near, is_up), keys) in enumerate(walk.hidden.items(), 1):
        beside = walk.nodes[near]
        level = beside.level + (-1 if is_up else 1)
        node = Node(f"hidden:{number}", "hidden", level=level, count=len(keys))
        nodes.append(node)
        ends = (node.id, beside.id) if is_up else (beside.id, node.id)
        links.append(Link(*ends, ""))
    nodes.sort(key=lambda node: (node.level, node.kind, node.title, node.id))
    return Lineage(walk.nodes[start].id, depth, nodes, links, walk.is_cut)
