"""Explain why a pod has no node: capacity, fragmentation, quotas, and who uses them.

Pure. The scheduler's message only counts nodes, so what nodes offer and what their pods request is
read as well. If that contradicts the message (pods end meanwhile), the message is shown alone.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from schedulers import explanations
from schedulers.cached import AnswerCache
from schedulers.capacity import Candidates, NodeCapacity, NodeRequest, ResourceLimit
from schedulers.contract import PendingReason
from schedulers.kubernetes import kueue, names, nodes, states
from schedulers.states import Wait

Object = Mapping[str, Any]
_OVER = frozenset({"Succeeded", "Failed"})
_QUOTA = re.compile(r"exceeded quota: ([^\s,]+), requested: (\S+), used: (\S+), limited: (\S+)")
_JUDGED = (Wait.CAPACITY, Wait.SCATTERED, Wait.NODES_DOWN, Wait.IMPOSSIBLE)


@dataclass(frozen=True)
class NodeUsage:
    """A node: its allocatable resources and the sum of its pods' requests, by resource name."""

    name: str
    labels: Mapping[str, str]
    has: Mapping[str, float]
    used: Mapping[str, float]
    is_up: bool


@dataclass(frozen=True)
class PodUsage:
    """A pod on a node. `key` is empty for pods that are not this portal's."""

    namespace: str
    key: str
    asks: Mapping[str, float]
    since: float


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of the cluster; `resource` is the resource name of a whole GPU."""

    places: Sequence[NodeUsage] = ()
    tenants: Sequence[PodUsage] = field(default_factory=tuple)
    resource: str = "nvidia.com/gpu"
    reserved: Sequence[kueue.Reserved] = ()
    answers: AnswerCache = field(default_factory=AnswerCache, compare=False, repr=False)


def snapshot_of(
    found: Sequence[Object],
    pods: Sequence[Object],
    resource: str,
    tolerations: Sequence[Mapping[str, str]],
    prefix: str,
) -> Snapshot:
    """Build the snapshot from all nodes and all unfinished pods."""
    placed = [pod for pod in pods if pod["spec"].get("nodeName") and states.phase(pod) not in _OVER]
    used: dict[str, Counter[str]] = {}
    for pod in placed:
        used.setdefault(pod["spec"]["nodeName"], Counter()).update(nodes.requests(pod["spec"]))
    return Snapshot(
        [
            _place(node, used.get(node["metadata"]["name"], Counter()), tolerations)
            for node in found
        ],
        [_tenant(pod, prefix) for pod in placed],
        resource,
    )


def explained(
    waiting: PendingReason, job: Object, pods: Sequence[Object], snapshot: Snapshot | None
) -> PendingReason:
    """Explain a pending job, adding the numbers of the snapshot to the result of `waits`."""
    if snapshot is None:
        return waiting
    pending = [
        pod for pod in pods if not pod["spec"].get("nodeName") and states.phase(pod) not in _OVER
    ]
    told = snapshot.answers.once(
        _question(waiting, job, pending), lambda: _with_numbers(waiting, job, pending, snapshot)
    )
    return replace(told, facts={**waiting.facts, **told.facts}) if told else waiting


def _question(waiting: PendingReason, job: Object, pending: Sequence[Object]) -> bytes:
    """Return the cache key: jobs with equal keys get the same explanation."""
    spec = (pending[0] if pending else job["spec"]["template"])["spec"]
    asks = [
        container.get("resources")
        for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]
    ]
    told = [
        waiting.wait,
        waiting.said,
        waiting.text,
        waiting.advice,
        waiting.facts.get("message"),
        waiting.facts.get("queue"),
    ]
    return orjson.dumps(
        [
            *told,
            job["metadata"]["namespace"],
            states.len_of(job),
            len(pending),
            asks,
            spec.get("nodeSelector"),
            spec.get("affinity"),
        ]
    )


def _with_numbers(
    waiting: PendingReason, job: Object, pending: Sequence[Object], snapshot: Snapshot
) -> PendingReason | None:
    """Explain with facts from the snapshot only."""
    bare = replace(waiting, facts={})
    if found := _QUOTA.search(str(waiting.facts.get("message", ""))):
        return _by_quota(bare, found, job, snapshot)
    if waiting.said == "QuotaReserved" and waiting.facts.get("flavor"):
        return _by_queue(bare, waiting.facts, job, snapshot)
    if waiting.said != "Unschedulable" or waiting.wait not in _JUDGED or not pending:
        return None
    return _by_capacity(bare, pending, snapshot)


def _by_capacity(
    waiting: PendingReason, pending: Sequence[Object], snapshot: Snapshot
) -> PendingReason:
    """Explain by capacity: pods are placed one by one, and several may share a node."""
    resource, need = _need(pending[0]["spec"], len(pending), snapshot)
    scene = Candidates(_spots(pending[0]["spec"], resource, snapshot))
    seen = scene.judge(need)
    if (
        not scene.spots
        or seen.wait not in _JUDGED
        or (waiting.wait == Wait.IMPOSSIBLE and seen.wait != Wait.IMPOSSIBLE)
    ):
        return waiting
    text, facts = explanations.nodes(seen, scene, need, "the cluster")
    held = (
        _held(snapshot.tenants, _native(seen.kind, resource))
        if seen.wait in (Wait.CAPACITY, Wait.SCATTERED)
        else {}
    )
    return replace(
        waiting,
        wait=seen.wait,
        text=text,
        advice=explanations.ADVICE[seen.wait],
        facts={**facts, **held, **explanations.changed(scene.smallest_change(need))},
    )


def _by_quota(
    waiting: PendingReason, found: re.Match[str], job: Object, snapshot: Snapshot
) -> PendingReason:
    """Explain an exceeded quota; it applies to each pod of the job separately.

    Parses "exceeded quota: q, requested: requests.nvidia.com/gpu=4, used:
    requests.nvidia.com/gpu=7, limited: requests.nvidia.com/gpu=8".
    """
    spec = job["spec"]["template"]["spec"]
    resource, need = _need(spec, states.len_of(job), snapshot)
    used, limits = _amounts(found[3], resource), _amounts(found[4], resource)
    caps = [
        ResourceLimit(
            kind,
            limit,
            used.get(kind),
            f"Quota {found[1]} of namespace {job['metadata']['namespace']}",
        )
        for kind, limit in limits.items()
    ]
    blamed = next((cap for cap in caps if cap.refuses(need)), None)
    if blamed is None:
        return waiting
    text, facts = explanations.limit(blamed, need)
    change = Candidates(_spots(spec, resource, snapshot), caps).smallest_change(need)
    here = [
        tenant for tenant in snapshot.tenants if tenant.namespace == job["metadata"]["namespace"]
    ]
    is_never = blamed.refuses_for_ever(need)
    held = {} if is_never else _held(here, _native(blamed.kind, resource))
    return replace(
        waiting,
        wait=Wait.IMPOSSIBLE if is_never else Wait.CLUSTER_LIMIT,
        text=text,
        facts={**facts, **held, **explanations.changed(change)},
    )


def _by_queue(
    waiting: PendingReason, told: Mapping[str, Any], job: Object, snapshot: Snapshot
) -> PendingReason:
    """Explain who uses the quota of this flavor in the queue.

    A change is suggested only if Kueue would admit it and a node could run it now.
    """
    holding = [
        (one, one.amounts.get((told["flavor"], told["resource"]), 0))
        for one in snapshot.reserved
        if one.queue == told.get("queue")
    ]
    held = explanations.held(
        [(one.key, amount, one.since) for one, amount in holding if one.key and amount],
        [amount for one, amount in holding if not one.key and amount],
    )
    change, spec = told.get("change"), job["spec"]["template"]["spec"]
    if change:
        resource, need = _need(spec, states.len_of(job), snapshot)
        change = (
            change
            if Candidates(_spots(spec, resource, snapshot)).admits(
                need.with_amount(change["resource"], change["to"])
            )
            else None
        )
    return replace(waiting, facts={**held, "change": change})


def _need(spec: Object, count: int, snapshot: Snapshot) -> tuple[str, NodeRequest]:
    """Return the request of each pod, and the resource name of its GPUs."""
    asks, family = nodes.requests(spec), snapshot.resource.partition("/")[0]
    resource = next((name for name in asks if name.startswith(f"{family}/mig-")), snapshot.resource)
    amounts = _counted(asks, resource)
    return resource, NodeRequest(
        amounts["gpu"], amounts["cpu"], amounts["memory"], count, packs=True
    )


def _spots(spec: Object, resource: str, snapshot: Snapshot) -> list[NodeCapacity]:
    """Return the nodes allowed by the node selector and the GPU type."""
    wanted, products = spec.get("nodeSelector") or {}, _products(spec)
    return [
        _spot(place, resource)
        for place in snapshot.places
        if all(place.labels.get(name) == value for name, value in wanted.items())
        and (not products or place.labels.get(nodes.PRODUCT) in products)
    ]


def _spot(place: NodeUsage, resource: str) -> NodeCapacity:
    total, used = _counted(place.has, resource), _counted(place.used, resource)
    return NodeCapacity(
        place.name, {kind: max(total[kind] - used[kind], 0) for kind in total}, total, place.is_up
    )


def _products(spec: Object) -> list[str]:
    """Return the GPU products that pod.py wrote into the spec."""
    wanted = (
        spec.get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", {})
    )
    rules = [
        rule
        for term in wanted.get("nodeSelectorTerms", ())
        for rule in term.get("matchExpressions", ())
    ]
    return [
        value
        for rule in rules
        if rule.get("key") == nodes.PRODUCT and rule.get("operator") == "In"
        for value in rule.get("values", ())
    ]


def _counted(amounts: Mapping[str, float], resource: str) -> dict[str, int]:
    """Convert to the units of quotas."""
    return {
        "gpu": round(amounts.get(resource, 0)),
        "cpu": round(amounts.get("cpu", 0) * 1000),
        "memory": round(amounts.get("memory", 0)),
    }


def _amounts(text: str, resource: str) -> dict[str, int]:
    """Parse "requests.nvidia.com/gpu=7,pods=3"; unknown and invalid entries are ignored."""
    kinds = {resource: "gpu", "cpu": "cpu", "memory": "memory", "pods": "pods"}
    found = {}
    for name, _, value in (part.partition("=") for part in text.rstrip(".").split(",")):
        with contextlib.suppress(ValueError):
            if kind := kinds.get(re.sub(r"^(requests|limits)\.", "", name)):
                found[kind] = round(nodes.quantity(value) * (1000 if kind == "cpu" else 1))
    return found


def _native(kind: str, resource: str) -> Callable[[PodUsage], int]:
    """Return how much of a resource a pod uses."""
    return (
        (lambda tenant: 1)
        if kind == "pods"
        else (lambda tenant: _counted(tenant.asks, resource)[kind or "gpu"])
    )


def _held(tenants: Sequence[PodUsage], amount: Callable[[PodUsage], int]) -> dict[str, Any]:
    """Return who uses the resource; the pods of one job are combined."""
    ours: dict[str, tuple[int, float]] = {}
    for tenant in (one for one in tenants if one.key and amount(one)):
        held, since = ours.get(tenant.key, (0, tenant.since))
        ours[tenant.key] = held + amount(tenant), min(since, tenant.since)
    return explanations.held(
        [(key, held, since) for key, (held, since) in ours.items()],
        [amount(one) for one in tenants if not one.key and amount(one)],
    )


def _place(
    node: Object, used: Mapping[str, float], tolerations: Sequence[Mapping[str, str]]
) -> NodeUsage:
    has = {
        name: nodes.quantity(value)
        for name, value in node.get("status", {}).get("allocatable", {}).items()
    }
    return NodeUsage(
        node["metadata"]["name"],
        node["metadata"].get("labels", {}),
        has,
        used,
        not nodes.why_out(node, tolerations),
    )


def _tenant(pod: Object, prefix: str) -> PodUsage:
    meta = pod["metadata"]
    is_ours = (
        meta.get("labels", {}).get(names.PORTAL) == prefix
        and meta.get("labels", {}).get(names.MANAGED) == names.MUSTER
    )
    since = states.time_of(pod.get("status", {}).get("startTime") or meta.get("creationTimestamp"))
    return PodUsage(
        meta["namespace"],
        meta.get("annotations", {}).get(names.KEY, "") if is_ours else "",
        nodes.requests(pod["spec"]),
        since.timestamp() if since else 0,
    )
