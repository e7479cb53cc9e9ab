"""Explain why a pod has no node: capacity, fragmentation, quotas, and who uses them.

Pure. The scheduler's message only counts nodes, so what nodes offer and what their pods request is
read as well. If that contradicts the message (pods end meanwhile), the message is shown alone.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from portal.core.messages import Message
from schedulers import explanations
from schedulers.cached import AnswerCache
from schedulers.capacity import Candidates, NodeCapacity, ResourceLimit, ResourceRequest
from schedulers.contract import PendingReason
from schedulers.kubernetes import kueue, names, nodes, states
from schedulers.states import Wait

Object = Mapping[str, Any]
_OVER = frozenset({"Succeeded", "Failed"})
_QUOTA = re.compile(r"exceeded quota: ([^\s,]+), requested: (\S+), used: (\S+), limited: (\S+)")
_JUDGED = (Wait.CAPACITY, Wait.SCATTERED, Wait.NODES_DOWN, Wait.IMPOSSIBLE)


@dataclass(frozen=True)
class PodUsage:
    """A pod on a node. `key` is empty for pods that are not this portal's."""

    namespace: str
    key: str
    amounts: Mapping[str, int]
    since: float


@dataclass(frozen=True)
class KubernetesSnapshot:
    """A snapshot of the cluster; `resource` is the resource name of a whole GPU."""

    places: Sequence[NodeCapacity] = ()
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
) -> KubernetesSnapshot:
    """Build the snapshot from all nodes and all unfinished pods."""
    placed = [pod for pod in pods if pod["spec"].get("nodeName") and states.phase(pod) not in _OVER]
    used: dict[str, Counter[str]] = {}
    for pod in placed:
        used.setdefault(pod["spec"]["nodeName"], Counter()).update(
            nodes.requests(pod["spec"], pod.get("status"))
        )
    return KubernetesSnapshot(
        [
            _place(node, used.get(node["metadata"]["name"], {}), resource, tolerations)
            for node in found
        ],
        [_tenant(pod, resource, prefix) for pod in placed],
        resource,
    )


def explained(
    waiting: PendingReason, job: Object, pods: Sequence[Object], snapshot: KubernetesSnapshot | None
) -> PendingReason:
    """Explain a pending job, adding the numbers of the snapshot to the result of `waits`."""
    if snapshot is None:
        return waiting
    pending = [
        pod for pod in pods if not pod["spec"].get("nodeName") and states.phase(pod) not in _OVER
    ]
    result = snapshot.answers.once(
        _question(waiting, job, pending), lambda: _with_numbers(waiting, job, pending, snapshot)
    )
    return replace(result, facts={**waiting.facts, **result.facts}) if result else waiting


def _question(waiting: PendingReason, job: Object, pending: Sequence[Object]) -> bytes:
    """Return the cache key: jobs with equal keys get the same explanation."""
    spec = (pending[0] if pending else job["spec"]["template"])["spec"]
    requests = [
        container.get("resources")
        for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]
    ]
    result = [
        waiting.wait,
        waiting.native_reason,
        waiting.text,
        waiting.advice,
        waiting.facts.get("message"),
        waiting.facts.get("queue"),
    ]
    return orjson.dumps(
        [
            *result,
            job["metadata"]["namespace"],
            states.len_of(job),
            len(pending),
            requests,
            spec.get("nodeSelector"),
            spec.get("affinity"),
        ]
    )


def _with_numbers(
    waiting: PendingReason, job: Object, pending: Sequence[Object], snapshot: KubernetesSnapshot
) -> PendingReason | None:
    """Explain with facts from the snapshot only."""
    bare = replace(waiting, facts={})
    if found := _QUOTA.search(str(waiting.facts.get("message", ""))):
        return _by_quota(bare, found, job, snapshot)
    if waiting.native_reason == "QuotaReserved" and waiting.facts.get("flavor"):
        return _by_queue(bare, waiting.facts, job, snapshot)
    if waiting.native_reason != "Unschedulable" or waiting.wait not in _JUDGED or not pending:
        return None
    return _by_capacity(bare, pending, snapshot)


def _by_capacity(
    waiting: PendingReason, pending: Sequence[Object], snapshot: KubernetesSnapshot
) -> PendingReason:
    """Explain by capacity: pods are placed one by one, and several may share a node."""
    need = _need(pending[0]["spec"], len(pending), snapshot)
    open_to_it, reserved = _allowed(pending[0]["spec"], snapshot)
    scene = Candidates(open_to_it)
    if not scene.could_run(need) and Candidates(open_to_it + reserved).could_run(need):
        return _by_reservation(waiting, reserved)
    seen = scene.judge(need)
    if not scene.nodes and waiting.wait == Wait.NODES_DOWN:  # the tainted ones would not do either
        return replace(
            waiting,
            wait=Wait.IMPOSSIBLE,
            text=Message("No node has the GPU type and the labels asked for."),
            advice=Message("Choose another type, or another pool."),
        )
    if (
        not scene.nodes
        or seen.wait not in _JUDGED
        or (waiting.wait == Wait.IMPOSSIBLE and seen.wait != Wait.IMPOSSIBLE)
    ):
        return waiting
    text, facts = explanations.nodes(seen, scene, need, "the cluster")
    held = (
        _held(snapshot.tenants, need.resource(seen.kind or "gpu"))
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


def _by_reservation(waiting: PendingReason, reserved: Sequence[NodeCapacity]) -> PendingReason:
    """Explain a pod for which only nodes that are reserved for other teams would do."""
    return replace(
        waiting,
        wait=Wait.RESERVED,
        text=Message.plural(
            len(reserved),
            "Node {names}, which could run it, is reserved for another team.",
            "{n} nodes that could run it are reserved for other teams: {names}.",
            n=len(reserved),
            names=explanations.names_of(reserved),
        ),
        advice=explanations.ADVICE[Wait.RESERVED],
        facts={"reserved_nodes": len(reserved)},
    )


def _by_quota(
    waiting: PendingReason, found: re.Match[str], job: Object, snapshot: KubernetesSnapshot
) -> PendingReason:
    """Explain an exceeded quota; it applies to each pod of the job separately.

    Parses "exceeded quota: q, requested: requests.nvidia.com/gpu=4, used:
    requests.nvidia.com/gpu=7, limited: requests.nvidia.com/gpu=8".
    """
    spec = job["spec"]["template"]["spec"]
    need = _need(spec, states.len_of(job), snapshot)
    used, limits = (_amounts(found[n], need, snapshot.resource) for n in (3, 4))
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
    change = Candidates(_allowed(spec, snapshot)[0], caps).smallest_change(need)
    here = [
        tenant for tenant in snapshot.tenants if tenant.namespace == job["metadata"]["namespace"]
    ]
    is_never = blamed.refuses_for_ever(need)
    held = {} if is_never else _held(here, need.resource(blamed.kind))
    return replace(
        waiting,
        wait=Wait.IMPOSSIBLE if is_never else Wait.CLUSTER_LIMIT,
        text=text,
        facts={**facts, **held, **explanations.changed(change)},
    )


def _by_queue(
    waiting: PendingReason, given: Mapping[str, Any], job: Object, snapshot: KubernetesSnapshot
) -> PendingReason:
    """Explain who uses the quota of this flavor in the queue.

    A change is suggested only if Kueue would admit it and a node could run it now.
    """
    holding = [
        (one, one.amounts.get((given["flavor"], given["resource"]), 0))
        for one in snapshot.reserved
        if one.queue == given.get("queue")
    ]
    held = explanations.held(
        [(one.key, amount, one.since) for one, amount in holding if one.key and amount],
        [amount for one, amount in holding if not one.key and amount],
    )
    change, spec = given.get("change"), job["spec"]["template"]["spec"]
    if change:
        need = _need(spec, states.len_of(job), snapshot)
        change = (
            change
            if Candidates(_allowed(spec, snapshot)[0]).admits(
                need.with_amount(change["resource"], change["to"])
            )
            else None
        )
    return replace(waiting, facts={**held, "change": change})


def _need(spec: Object, count: int, snapshot: KubernetesSnapshot) -> ResourceRequest:
    """Return the request of each pod."""
    amounts = _counted(nodes.requests(spec), snapshot.resource)
    gpu = next((name for name in amounts if name.startswith("gpu.")), "gpu")
    return ResourceRequest(
        amounts[gpu],
        amounts["cpu"],
        amounts["memory"],
        count,
        gpu_type=gpu.partition(".")[2],
        packs=True,
    )


def _allowed(
    spec: Object, snapshot: KubernetesSnapshot
) -> tuple[list[NodeCapacity], list[NodeCapacity]]:
    """Return the nodes that match its node selector and GPU type: open to it, and reserved."""
    wanted, products = spec.get("nodeSelector") or {}, _products(spec, "In")
    avoided = _products(spec, "NotIn")
    own = {one.get("value") for one in spec.get("tolerations", ()) if one.get("key") == names.POOL}
    found: tuple[list[NodeCapacity], list[NodeCapacity]] = ([], [])
    for node in snapshot.places:
        if (
            all(node.labels.get(name) == value for name, value in wanted.items())
            and (not products or node.labels.get(nodes.PRODUCT) in products)
            and node.labels.get(nodes.PRODUCT) not in avoided
        ):
            found[names.POOL in node.labels and node.labels[names.POOL] not in own].append(node)
    return found


def _products(spec: Object, operator: str) -> list[str]:
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
        if rule.get("key") == nodes.PRODUCT and rule.get("operator") == operator
        for value in rule.get("values", ())
    ]


def _counted(amounts: Mapping[str, float], resource: str) -> dict[str, int]:
    """Convert to the names and units of quotas: "nvidia.com/mig-1g.10gb" is gpu.mig-1g.10gb."""
    mig = f"{resource.partition('/')[0]}/mig-"
    return {
        "gpu": round(amounts.get(resource, 0)),
        "cpu": round(amounts.get("cpu", 0) * 1000),
        "memory": round(amounts.get("memory", 0)),
    } | {
        f"gpu.mig-{name.removeprefix(mig)}": round(amount)
        for name, amount in amounts.items()
        if name.startswith(mig)
    }


def _amounts(text: str, need: ResourceRequest, resource: str) -> dict[str, int]:
    """Parse "requests.nvidia.com/gpu=7,pods=3"; unknown and invalid entries are ignored."""
    if need.gpu_type:
        resource = f"{resource.partition('/')[0]}/{need.gpu_type}"
    kinds = {resource: "gpu", "cpu": "cpu", "memory": "memory", "pods": "pods"}
    found = {}
    for name, _, value in (part.partition("=") for part in text.rstrip(".").split(",")):
        with contextlib.suppress(ValueError):
            if kind := kinds.get(re.sub(r"^(requests|limits)\.", "", name)):
                found[kind] = round(nodes.quantity(value) * (1000 if kind == "cpu" else 1))
    return found


def _held(tenants: Sequence[PodUsage], resource: str) -> dict[str, Any]:
    """Return who uses the resource; the pods of one job are combined."""
    ours: dict[str, tuple[int, float]] = {}
    others = []
    for tenant in tenants:
        amount = 1 if resource == "pods" else tenant.amounts.get(resource, 0)
        if tenant.key and amount:
            held, since = ours.get(tenant.key, (0, tenant.since))
            ours[tenant.key] = held + amount, min(since, tenant.since)
        elif amount:
            others.append(amount)
    return explanations.held([(key, held, since) for key, (held, since) in ours.items()], others)


def _place(
    node: Object,
    used: Mapping[str, float],
    resource: str,
    tolerations: Sequence[Mapping[str, str]],
) -> NodeCapacity:
    allocatable = node.get("status", {}).get("allocatable", {})
    total = _counted({k: nodes.quantity(value) for k, value in allocatable.items()}, resource)
    taken = _counted(used, resource)
    return NodeCapacity(
        node["metadata"]["name"],
        total,
        {kind: max(amount - taken.get(kind, 0), 0) for kind, amount in total.items()},
        not nodes.why_out(node, tolerations),
        node["metadata"].get("labels", {}),
    )


def _tenant(pod: Object, resource: str, prefix: str) -> PodUsage:
    meta = pod["metadata"]
    is_ours = (
        meta.get("labels", {}).get(names.PORTAL) == prefix
        and meta.get("labels", {}).get(names.MANAGED) == names.MUSTER
    )
    since = states.time_of(pod.get("status", {}).get("startTime") or meta.get("creationTimestamp"))
    return PodUsage(
        meta["namespace"],
        meta.get("annotations", {}).get(names.KEY, "") if is_ours else "",
        _counted(nodes.requests(pod["spec"], pod.get("status")), resource),
        since.timestamp() if since else 0,
    )
