"""Explain in sentences and numbers why a cluster with its own scheduler keeps a job pending.

Pure, and shared by all such schedulers. The facts use the keys of the portal's own explanation
(`resource`, `ask`, `used`, `limit`, `free`, `total`, `most_on_one_node`), plus `held` (our jobs:
key, amount, start time), `others` (count and sum of everybody else's jobs) and `change`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from portal.core.formatting import amount_text, counted, names_text
from portal.core.messages import Message
from schedulers.capacity import (
    KINDS,
    AmountChange,
    Assessment,
    Candidates,
    NodeCapacity,
    ResourceLimit,
    ResourceRequest,
    ever,
    fits,
)
from schedulers.states import Wait

HELD = 10  # list only the largest of our jobs
_WORDS = {
    "gpu": Message("GPUs", context="resource, counted"),
    "cpu": Message("cores", context="resource, counted"),
    "memory": Message("memory", context="resource, counted"),
}
ADVICE = {
    Wait.CAPACITY: Message("It starts when running jobs end."),
    Wait.SCATTERED: Message("It starts when jobs that run side by side on one node end."),
    Wait.NODES_DOWN: Message("Ask the operator when they come back, or choose another pool."),
    Wait.IMPOSSIBLE: Message("Ask for less on each node, or choose another pool."),
    Wait.RESERVED: Message("It starts when the reservation ends, or sooner in another pool."),
}
Explanation = tuple[str, dict[str, Any]]


def limit(cap: ResourceLimit, need: ResourceRequest) -> Explanation:
    """Explain a limit: "Account borealis holds 3 of 3 GPUs; this asks 2."."""
    request, facts = (
        cap.asked(need),
        {"resource": cap.kind, "limit": cap.limit, "ask": cap.asked(need), "whose": cap.whose},
    )
    most, requested = amount_text(cap.kind, cap.limit), amount_text(cap.kind, request)
    who = {
        "user": Message(" one user", context="part of a sentence"),
        "account": Message(" one account", context="part of a sentence"),
        "job": Message(" one job", context="part of a sentence"),
        "node": Message(" one job on each node"),
    }.get(cap.each, "")
    if cap.refuses_for_ever(need) or cap.used is None:
        who = who or Message(" all of its jobs together")
        return Message(
            "{whose} lets{who} use at most {most}; this job needs {ask}.",
            whose=cap.whose,
            who=who,
            most=most,
            ask=requested,
        ), facts
    used, taken = {**facts, "used": cap.used}, part(cap.kind, cap.used)
    if cap.kind == "jobs":
        jobs = counted(str(cap.limit), "jobs")
        if who:
            return (
                Message.plural(
                    cap.used,
                    Message("{whose} lets{who} run {jobs} at once, and {used} runs."),
                    Message("{whose} lets{who} run {jobs} at once, and {used} run."),
                    whose=cap.whose,
                    who=who,
                    jobs=jobs,
                    used=cap.used,
                ),
                used,
            )
        return (
            Message.plural(
                cap.used,
                Message("{whose} lets {jobs} run at once, and {used} runs."),
                Message("{whose} lets {jobs} run at once, and {used} run."),
                whose=cap.whose,
                jobs=jobs,
                used=cap.used,
            ),
            used,
        )
    if cap.each:
        return (
            (
                Message(
                    "{whose} lets{who} use {most}, of which {taken} is in use; this job needs {ask}.",
                    whose=cap.whose,
                    who=who,
                    most=most,
                    taken=taken,
                    ask=requested,
                )
                if taken == "1"
                else Message(
                    "{whose} lets{who} use {most}, of which {taken} are in use; this job needs {ask}.",
                    whose=cap.whose,
                    who=who,
                    most=most,
                    taken=taken,
                    ask=requested,
                )
            ),
            used,
        )
    return Message(
        "{whose} is using {taken} of {most}; this job needs {ask}.",
        whose=cap.whose,
        taken=taken,
        most=most,
        ask=requested,
    ), used


def nodes(
    seen: Assessment, candidates: Candidates, need: ResourceRequest, where: str
) -> Explanation:
    """Explain the nodes: full, fragmented, out of service, or too small forever."""
    facts, resource = free_resources(candidates, need, seen.kind), need.resource(seen.kind)
    if seen.wait == Wait.NODES_DOWN:
        able = [node for node in candidates.nodes if fits(need, node, ever)]
        down = [node for node in able if not node.is_up]
        return Message.plural(
            len(down),
            Message(
                "{down} of {able} nodes of {where} that could run it is down or drained: {down2}."
            ),
            Message(
                "{down} of {able} nodes of {where} that could run it are down or drained: {down2}."
            ),
            down=len(down),
            able=len(able),
            where=where,
            down2=names_of(down),
        ), {**facts, "down": len(down)}
    if seen.wait == Wait.IMPOSSIBLE:
        return _too_small(candidates, need, seen.kind, where), facts
    if seen.wait == Wait.CAPACITY:
        upper = where[0].upper() + where[1:]
        free, request = part(seen.kind, candidates.sum(resource)), _asked(need, seen.kind)
        total = amount_text(seen.kind, candidates.sum(resource, ever))
        return Message(
            "{upper} is full: {kind} of {total} free; this job needs {ask}.",
            upper=upper,
            kind=free,
            total=total,
            ask=request,
        ), facts
    if not seen.kind:
        words = Message.joined(", ", (_WORDS[kind] for kind in KINDS if need.of(kind)))
        return Message(
            "Enough {words} are free in {where}, but not together on {need}.",
            words=words,
            where=where,
            need=_same(need),
        ), {
            **facts,
            "apart": [k for k in KINDS if need.of(k)],
        }
    most = amount_text(seen.kind, candidates.most(resource))
    return Message(
        "{kind} are free in {where}, but not on one node: the most on one node is {most}; this job needs {need}.",
        kind=amount_text(seen.kind, candidates.sum(resource)),
        where=where,
        most=most,
        need=_asked(need, seen.kind),
    ), facts


def free_resources(candidates: Candidates, need: ResourceRequest, kind: str = "") -> dict[str, Any]:
    """Return the node totals of the scarce resource, or of the first one requested."""
    kind = kind if kind in KINDS else next((name for name in KINDS if need.of(name)), "cpu")
    return {
        "resource": kind,
        "ask": need.of(kind),
        "on_nodes": need.nodes,
        "free": candidates.sum(need.resource(kind)),
        "total": candidates.sum(need.resource(kind), ever),
        "most_on_one_node": candidates.most(need.resource(kind)),
        "fitting": candidates.count(need),
        "of_nodes": len(candidates.nodes),
    }


def fitting(candidates: Candidates, need: ResourceRequest) -> str:
    """Return a sentence such as "2 of 4 nodes have room for it now."."""
    fits = candidates.count(need)
    return (
        Message.plural(
            fits,
            Message("{fits} of {nodes} has room for it now."),
            Message("{fits} of {nodes} have room for it now."),
            fits=fits,
            nodes=_nodes(len(candidates.nodes)),
        )
        if need.nodes == 1
        else Message.plural(
            fits,
            Message("{fits} of {nodes} has room for one of its nodes now."),
            Message("{fits} of {nodes} have room for one of its nodes now."),
            fits=fits,
            nodes=_nodes(len(candidates.nodes)),
        )
    )


def changed(change: AmountChange | None) -> dict[str, Any]:
    return {"change": change.facts} if change else {}


def held(ours: Sequence[tuple[str, int, float]], others: Sequence[int]) -> dict[str, Any]:
    """Return who uses the resource: the largest of our jobs, and the sum of all others.

    Our jobs are (key, amount, Unix time of the start).
    """
    first = sorted(ours, key=lambda one: (-one[1], one[2]))
    rest = [amount for _, amount, _ in first[HELD:]] + list(others)
    facts: dict[str, Any] = {
        "held": [
            {"key": key, "amount": amount, "since": since} for key, amount, since in first[:HELD]
        ]
    }
    return {**facts, **({"others": {"jobs": len(rest), "amount": sum(rest)}} if rest else {})}


def _too_small(candidates: Candidates, need: ResourceRequest, kind: str, where: str) -> str:
    able = sum(fits(need, node, ever) for node in candidates.nodes)
    if able:
        return Message.plural(
            able,
            Message(
                "Too few nodes of {where} are large enough: it asks {nodes}, and there is {able}."
            ),
            Message(
                "Too few nodes of {where} are large enough: it asks {nodes}, and there are {able}."
            ),
            where=where,
            nodes=need.nodes,
            able=able,
        )
    if kind not in KINDS:
        return Message("No node of {where} has all that it asks for.", where=where)
    most = amount_text(kind, candidates.most(need.resource(kind), ever))
    return Message(
        "No node of {where} is large enough: the largest has {most}, it asks {kind}.",
        where=where,
        most=most,
        kind=amount_text(kind, need.of(kind)),
    )


def _asked(need: ResourceRequest, kind: str) -> Message:
    amount = amount_text(kind, need.of(kind))
    if need.nodes == 1:
        return Message("{amount} on one node", context="text, schedulers", amount=amount)
    return Message("{amount} on each of {n} nodes", amount=amount, n=need.nodes)


def _same(need: ResourceRequest) -> str:
    return (
        Message("one node", context="part of a sentence") if need.nodes == 1 else _nodes(need.nodes)
    )


def _nodes(number: int) -> Message:
    return counted(str(number), "nodes")


def names_of(nodes: Sequence[NodeCapacity]) -> str:
    """Return the names of the first five nodes, and how many more there are."""
    return names_text([node.name for node in nodes])


def part(kind: str, amount: int) -> str:
    """Format an amount next to its total: "3" GPUs, "2.5" cores, memory with its unit."""
    return (
        f"{amount / 1000:g}"
        if kind == "cpu"
        else amount_text(kind, amount)
        if kind == "memory"
        else str(amount)
    )


def is_private(name: str) -> bool:
    """Whether a fact names jobs and must not be shown to everybody who sees the numbers."""
    return name in {"held", "others"}


def without_private(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if not is_private(name)}
