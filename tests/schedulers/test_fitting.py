"""Compare explanations for random clusters with a simulator that tries every placement."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.capacity import (
    KINDS,
    STEPS,
    Candidates,
    NodeCapacity,
    ResourceLimit,
    ResourceRequest,
    capacity_of,
    ever,
)
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.states import Wait
from tests.rig.seeds import examples

GIB = 1 << 30
SIZES = {"gpu": 8, "cpu": 16, "memory": 8}
UNITS = {"gpu": 1, "cpu": 1000, "memory": GIB}


@st.composite
def nodes(draw):
    found = []
    for number in range(draw(st.integers(0, 4))):
        total = {kind: draw(st.integers(0, SIZES[kind])) for kind in KINDS}
        free = {kind: draw(st.integers(0, total[kind])) * UNITS[kind] for kind in KINDS}
        found.append(
            NodeCapacity(
                f"n{number}",
                {k: n * UNITS[k] for k, n in total.items()},
                free,
                draw(st.sampled_from([True, True, True, False])),
            )
        )
    return found


needs = st.builds(
    lambda gpu, cpu, memory, nodes, packs: ResourceRequest(
        gpu, cpu * 1000, memory * GIB, nodes, packs=packs
    ),
    st.integers(0, 8),
    st.integers(1, 16),
    st.integers(0, 8),
    st.integers(1, 3),
    st.booleans(),
)
caps = st.builds(
    lambda of, limit, used: ResourceLimit(
        of[0],
        limit * UNITS.get(of[0], 1),
        0 if of[1] else used * UNITS.get(of[0], 1),
        "Account a",
        of[1],
    ),
    st.sampled_from(
        [
            *((kind, each) for kind in KINDS for each in ("", "job", "node")),
            ("nodes", ""),
            ("nodes", "job"),
            ("jobs", ""),
        ]
    ),
    st.integers(0, 24),
    st.integers(0, 24),
)
fields = st.builds(Candidates, nodes(), st.lists(caps, max_size=2))


def is_placed(need: ResourceRequest, nodes: list[dict[str, int]]) -> bool:
    """Simulate: return whether some choice of nodes fits all nodes of the job."""
    for choice in combinations_with_replacement(range(len(nodes)), need.nodes):
        if not need.packs and len(set(choice)) < need.nodes:
            continue
        if all(
            choice.count(i) * need.of(kind) <= nodes[i][kind] for i in set(choice) for kind in KINDS
        ):
            return True
    return False


def truth(field: Candidates, need: ResourceRequest) -> Wait | None:
    """Return the obstacle by trial.

    The trials leave out running jobs, limits, unavailable nodes and fragmentation in turn.
    """
    body = {**{kind: need.of(kind) * need.nodes for kind in KINDS}, "nodes": need.nodes, "jobs": 1}
    request = lambda cap: need.of(cap.kind) if cap.each == "node" else body[cap.kind]  # noqa: E731
    up = [spot for spot in field.nodes if spot.is_up]
    if any(request(cap) > cap.limit for cap in field.limits) or not is_placed(
        need, [dict(spot.total) for spot in field.nodes]
    ):
        return Wait.IMPOSSIBLE
    if any(request(cap) + cap.used > cap.limit for cap in field.limits):
        return Wait.CLUSTER_LIMIT
    if not is_placed(need, [dict(spot.total) for spot in up]):
        return Wait.NODES_DOWN
    if is_placed(need, [dict(spot.free) for spot in up]):
        return None
    heap = {kind: sum(spot.free[kind] for spot in up) for kind in KINDS}
    return Wait.SCATTERED if all(heap[kind] >= body[kind] for kind in KINDS) else Wait.CAPACITY


@settings(max_examples=examples(600), deadline=None)
@given(fields, needs)
def test_judge_matches_simulator(field, need):
    assert field.judge(need).wait == truth(field, need)


@settings(max_examples=examples(600), deadline=None)
@given(fields, needs)
def test_smallest_change_is_largest_admitted_amount(field, need):
    change = field.smallest_change(need)
    if truth(field, need) is None:
        return
    if change is not None:
        assert 0 < change.after < change.before == need.of(change.kind)
        assert truth(field, replace(need, **{change.kind: change.after})) is None
    share = (change.before - change.after) / change.before if change else 1
    for kind, step in (*((kind, UNITS[kind]) for kind in KINDS), ("nodes", STEPS["nodes"])):
        for amount in range(step, need.of(kind), step):
            if (need.of(kind) - amount) / need.of(kind) < share:
                assert truth(field, replace(need, **{kind: amount})) is not None


def gpus(number: int, kind: str = "h100") -> list[GpuFacts]:
    return [GpuFacts(i, f"{kind}{i}", kind, kind, 0) for i in range(number)]


def test_fitting_ignores_other_gpu_types():
    nodes = [NodeFacts("a", 8, GIB, gpus(4)), NodeFacts("b", 8, GIB, gpus(4, "a100"))]
    field = Candidates([capacity_of(node) for node in nodes])
    assert (
        field.sum("gpu.h100", ever),
        field.judge(ResourceRequest(4, 1000, gpu_type="h100", nodes=2)).wait,
    ) == (
        4,
        Wait.IMPOSSIBLE,
    )


def test_judge_distinguishes_drained_from_full_node():
    drained = [NodeFacts("a", 8, GIB, gpus(4), is_drained=True), NodeFacts("b", 8, GIB)]
    full = [NodeFacts("a", 8, GIB, gpus(4), used_gpus=4), NodeFacts("b", 8, GIB)]
    need = ResourceRequest(gpu=1, cpu=1000)
    assert [
        Candidates([capacity_of(node) for node in nodes]).judge(need).wait
        for nodes in (drained, full)
    ] == [
        Wait.NODES_DOWN,
        Wait.CAPACITY,
    ]
