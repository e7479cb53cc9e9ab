"""Admission and its explanations agree, for random clusters, quotas and requests."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot, plan
from schedulers.capacity import GpuId, NodeCapacity, ResourceRequest, gpu_amounts
from schedulers.states import Wait
from tests.rig.seeds import examples
from workspaces.quotas.limits import Meter, QuotaUsage, meters

ORG, TEAM, USER = UUID(int=1), UUID(int=2), UUID(int=3)
MIB = 1 << 20
STEP = {"gpu": 1, "cpu": 100, "memory": MIB}
STEPS = {**STEP, "nodes": 1}


@st.composite
def nodes(draw):
    made = []
    for n in range(draw(st.integers(1, 4))):
        gpus = [
            GpuId(i, f"GPU-{n}-{i}", draw(st.sampled_from(["h100", "a100"])))
            for i in range(draw(st.integers(0, 4)))
        ]
        cpus, memory = draw(st.integers(1, 80)) * 100, draw(st.integers(1, 64)) * MIB
        free = [g for g in gpus if draw(st.booleans())]
        made.append(
            node(
                f"n{n}",
                (cpus, memory, gpus),
                draw(st.integers(0, cpus // 100)) * 100,
                draw(st.integers(0, memory // MIB)) * MIB,
                free,
                is_up=draw(st.integers(0, 4)) > 0,
            )
        )
    return made


def node(name, total, cpus, memory, gpus, is_up=True):
    total, free = (
        {"cpu": c, "memory": m, **gpu_amounts(Counter(gpu.type for gpu in found))}
        for c, m, found in (total, (cpus, memory, gpus))
    )
    return NodeCapacity(name, total, free, is_up, free_gpus=gpus)


@st.composite
def requests(draw):
    gpus, kind = draw(st.integers(0, 4)), draw(st.sampled_from(["", "h100", "a100"]))
    cpu, memory = draw(st.integers(1, 100)) * 100, draw(st.integers(0, 80)) * MIB
    nodes = draw(st.sampled_from([1, 1, 1, 3]))
    return ask_for(ResourceRequest(gpus, cpu, memory, nodes, kind if gpus else ""))


def ask_for(resources):
    return AdmissionRequest(ORG, TEAM, USER, resources)


def admits(snapshot, request, kind, amount):
    changed = replace(request, resources=request.resources.with_amount(kind, amount))
    return snapshot.judge(changed).wait is None


@st.composite
def snapshots(draw):
    limits = {}
    for scope, subject in (("org", ORG), ("team", TEAM), ("user", USER)):
        for resource, step in STEP.items():
            if draw(st.integers(0, 3)) == 0:
                limit = draw(st.integers(0, 100)) * step
                limits[Meter(ORG, scope, subject, resource)] = QuotaUsage(
                    draw(st.integers(0, 100)) * step, limit
                )
    return ClusterSnapshot(limits, draw(nodes()), places=draw(st.integers(0, 4)) > 0)


@settings(max_examples=examples(400), deadline=None)
@given(snapshots(), requests())
def test_proposed_change_starts_the_job_and_is_the_smallest_of_its_resource(snapshot, request):
    change = snapshot.smallest_change(request) if snapshot.judge(request).wait else None
    if change is None:
        return
    assert admits(snapshot, request, change.kind, change.after)
    one_more = change.after + STEPS[change.kind]
    if one_more < change.before:
        assert not admits(snapshot, request, change.kind, one_more)


@settings(max_examples=examples(400), deadline=None)
@given(snapshots(), requests())
def test_no_change_is_proposed_only_if_no_single_reduction_helps(snapshot, request):
    if snapshot.judge(request).wait is None or snapshot.smallest_change(request) is not None:
        return
    for resource, step in STEPS.items():
        for amount in range(step, request.resources.of(resource), step):
            assert not admits(snapshot, request, resource, amount)


@settings(max_examples=examples(400), deadline=None)
@given(snapshots(), requests())
def test_reason_is_the_first_failing_check(snapshot, request):
    decision = snapshot.judge(request)
    expected = _brute(snapshot, request)
    assert decision.wait == expected or {decision.wait, expected} == {Wait.CAPACITY, Wait.SCATTERED}


@settings(max_examples=examples(400), deadline=None)
@given(snapshots(), requests())
def test_job_gets_free_resources_on_as_many_different_nodes_as_it_asks_for(snapshot, request):
    place, need = snapshot.judge(request).place, request.resources
    if place is None:
        return
    parts, free = place.parts, {node.name: node for node in snapshot.nodes}
    assert len({part.node for part in parts}) == len(parts) == need.nodes
    for part in parts:
        types = {gpu.uuid: gpu.type for gpu in free[part.node].free_gpus}
        assert len(part.gpu_uuids) == need.gpu
        assert {types[uuid] for uuid in part.gpu_uuids} <= {need.gpu_type or "h100", "a100"}
    snapshot.take(request, place)
    for node in snapshot.nodes:
        used = [part for part in parts if part.node == node.name]
        assert free[node.name].free["cpu"] - node.free["cpu"] == need.cpu * len(used)
        assert not {gpu.uuid for gpu in node.free_gpus} & {u for p in used for u in p.gpu_uuids}


def _brute(snapshot: ClusterSnapshot, request: AdmissionRequest) -> Wait | None:
    need = request.resources
    gpu = f"gpu.{need.gpu_type}" if need.gpu_type else "gpu"

    def fits(amounts: Mapping[str, int]) -> bool:
        return (
            need.cpu <= amounts["cpu"]
            and need.memory <= amounts["memory"]
            and need.gpu <= amounts.get(gpu, 0)
        )

    if snapshot.places and sum(fits(n.total) for n in snapshot.nodes) < need.nodes:
        return Wait.IMPOSSIBLE
    for meter, amount in meters(ORG, TEAM, USER, need.totals).items():
        used, limit, *_ = snapshot.limits.get(meter, QuotaUsage())
        if limit is not None and used + amount > limit:
            return {"org": Wait.QUOTA_ORG, "team": Wait.QUOTA_TEAM, "user": Wait.QUOTA_USER}[
                meter.scope
            ]
    if snapshot.places and sum(fits(n.total) for n in snapshot.nodes if n.is_up) < need.nodes:
        return Wait.NODES_DOWN
    if snapshot.places and sum(fits(n.free) for n in snapshot.nodes if n.is_up) < need.nodes:
        return Wait.CAPACITY
    return None


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), st.lists(requests(), max_size=12))
def test_plan_never_exceeds_capacity_or_allocates_a_gpu_twice(snapshot, wanted):
    before = copy.deepcopy(snapshot)
    admitted = [
        (request, decision) for request, decision in plan(snapshot, wanted) if decision.wait is None
    ]
    given_out = [uuid for _, v in admitted if v.place for uuid in v.place.gpu_uuids]
    assert len(given_out) == len(set(given_out))
    for node in before.nodes:
        here = [a for a, v in admitted if v.place and v.place.node == node.name]
        assert sum(a.resources.cpu for a in here) <= node.free["cpu"]
        assert sum(a.resources.memory for a in here) <= node.free["memory"]
    for meter, (used, limit, *_) in before.limits.items():
        held = sum(a.resources.totals.get(meter.resource, 0) for a, _ in admitted)
        assert not held or used + held <= limit


def test_every_reason_has_its_numbers():
    busy = node("n0", (4000, 8 * MIB, [GpuId(0, "GPU-0", "h100")]), 1000, 8 * MIB, [])
    snapshot = ClusterSnapshot({Meter(ORG, "team", TEAM, "cpu"): QuotaUsage(3000, 4000)}, [busy])
    full = snapshot.judge(ask_for(ResourceRequest(cpu=2000)))
    assert full.wait == Wait.QUOTA_TEAM
    assert (full.facts["used"], full.facts["limit"], full.facts["ask"]) == (3000, 4000, 2000)
    busy = snapshot.judge(ask_for(ResourceRequest(gpu=1)))
    assert (
        busy.wait == Wait.CAPACITY and busy.facts["resource"] == "gpu" and busy.facts["total"] == 1
    )
    never = snapshot.judge(ask_for(ResourceRequest(gpu=2)))
    assert never.wait == Wait.IMPOSSIBLE and never.facts["largest"] == 1
