"""Convert nodes and the requests of their pods to NodeFacts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from portal.core.messages import Message
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.gpu_types import type_of
from schedulers.images.config import arch_name
from schedulers.kubernetes import names
from schedulers.shares import MPS, SHARED, share_of, share_type

Object = Mapping[str, Any]
PRODUCT, GPU_MEMORY = "nvidia.com/gpu.product", "nvidia.com/gpu.memory"
COMPUTE = ("nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor")
# GPU feature discovery before 0.15
DRIVER = (
    "nvidia.com/cuda.driver.major",
    "nvidia.com/cuda.driver.minor",
    "nvidia.com/cuda.driver.rev",
)
# and since
DRIVER_FULL, CUDA_FULL = (
    "nvidia.com/cuda.driver-version.full",
    "nvidia.com/cuda.runtime-version.full",
)
CUDA = ("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor")
_SHARED_PRODUCT, _MIG_PRODUCT = "-SHARED", re.compile(r"-MIG-.*")
_UNITS = {
    "": 1,
    "m": 1e-3,
    "u": 1e-6,
    "n": 1e-9,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numk]|[KMGTPE]i?|)")
_OVER = frozenset({"Succeeded", "Failed"})
_HIDING = frozenset({"NoSchedule", "NoExecute"})
# taints that the conditions of the node explain, or that pods with requests tolerate
_KNOWN_OTHERWISE = frozenset(
    f"node.kubernetes.io/{name}"
    for name in ("not-ready", "unreachable", "unschedulable", "memory-pressure")
)


def quantity(text: object) -> float:
    """Parse a quantity such as "500m", "2Gi" or "1e3". Raises ValueError."""
    found = _QUANTITY.fullmatch(str(text))
    if not found or found[2] not in _UNITS:
        raise ValueError(f"not a quantity: {text!r}")
    number = float(found[1]) * _UNITS[found[2]]
    if not math.isfinite(number):  # "1e999"
        raise ValueError(f"not a quantity: {text!r}")
    return number


def inventory(
    nodes: Iterable[Object],
    pods: Iterable[Object],
    resource: str,
    tolerations: Sequence[Mapping[str, str]] = (),
) -> list[NodeFacts]:
    """Return all nodes with the requests of all pods on them."""
    used: dict[str, Counter[str]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if node and pod.get("status", {}).get("phase") not in _OVER:
            used.setdefault(node, Counter()).update(requests(pod["spec"], pod.get("status")))
    return [
        _node(node, used.get(node["metadata"]["name"], Counter()), resource, tolerations)
        for node in nodes
    ]


def why_out(node: Object, tolerations: Sequence[Mapping[str, str]] = ()) -> str:
    """Return why no job of ours may start on a node now; empty if one may."""
    return _trouble(node) or _kept_out(node["metadata"], node.get("spec", {}), tolerations)


def requests(spec: Object, status: Object | None = None) -> dict[str, float]:
    """Return what the scheduler counts for a pod.

    The sum of its containers and side-cars (init containers that go on running), or an init
    container with the side-cars started before it if that is more. Requests of the pod as a whole
    replace that, and its overhead is added. A container that is being resized counts as the larger.
    """
    now = {
        one.get("name"): one.get("resources") or {}
        for name in ("containerStatuses", "initContainerStatuses")
        for one in (status or {}).get(name) or ()
    }
    total: dict[str, float] = {}
    sidecars: dict[str, float] = {}
    most: dict[str, float] = {}
    for container in spec.get("containers", ()):
        _add(total, _requested(container, now))
    for container in spec.get("initContainers") or ():
        own = _requested(container, now)
        if container.get("restartPolicy") == "Always":
            _add(total, own)
            _add(sidecars, own)
            own = {}
        _add(own, sidecars)
        most = _larger(most, own)
    total = _larger(total, most) | {
        name: amount
        for name, amount in _amounts((spec.get("resources") or {}).get("requests")).items()
        if name in {"cpu", "memory"} or name.startswith("hugepages-")
    }
    _add(total, _amounts(spec.get("overhead")))
    return total


def _requested(container: Object, now: Mapping[Any, Object]) -> dict[str, float]:
    asked = _amounts((container.get("resources") or {}).get("requests"))
    return _larger(asked, _amounts(now.get(container.get("name"), {}).get("requests")))


def _amounts(values: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: quantity(value) for name, value in (values or {}).items()}


def _add(total: dict[str, float], amounts: Mapping[str, float]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _larger(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def tolerated(taint: Object, tolerations: Sequence[Mapping[str, str]]) -> bool:
    """Return whether a toleration matches the taint."""
    return any(
        (not one.get("effect") or one["effect"] == taint.get("effect"))
        and (not one.get("key") or one["key"] == taint.get("key"))
        and (
            one.get("operator", "Equal") == "Exists"
            or one.get("value", "") == taint.get("value", "")
        )
        for one in tolerations
    )


def _node(
    node: Object, used: Counter[str], resource: str, tolerations: Sequence[Mapping[str, str]]
) -> NodeFacts:
    meta, spec, has = (
        node["metadata"],
        node.get("spec", {}),
        node.get("status", {}).get("allocatable", {}),
    )
    gpus = _gpus(meta["name"], meta.get("labels", {}), has, resource)
    kinds = gpu_kinds(meta.get("labels", {}), has, resource)
    labels, system = meta.get("labels", {}), node.get("status", {}).get("nodeInfo", {})
    trouble, kept_out = _trouble(node), _kept_out(meta, spec, tolerations)
    notes = [trouble, kept_out, "" if gpus else f"no GPU: the node offers no {resource}"]
    return NodeFacts(
        name=meta["name"],
        cpus=quantity(has.get("cpu", "0")),
        memory=int(quantity(has.get("memory", "0"))),
        gpus=gpus,
        labels=dict(meta.get("labels", {})),
        is_ready=not trouble,
        note=Message.joined("; ", notes),
        is_drained=bool(kept_out),
        used_cpus=round(used["cpu"], 3),
        used_memory=int(used["memory"]),
        used_gpus=int(sum(used[name] for name, kind in kinds.items() if not share_of(kind))),
        used_shares=int(sum(used[name] for name, kind in kinds.items() if share_of(kind))),
        arch=arch_name(system.get("architecture") or labels.get("kubernetes.io/arch", "")),
        driver=labels.get(DRIVER_FULL) or _version(labels, DRIVER),
        cuda=labels.get(CUDA_FULL) or _version(labels, CUDA),
    )


def _gpus(
    node: str, labels: Mapping[str, str], has: Mapping[str, str], resource: str
) -> list[GpuFacts]:
    """Return whole GPUs, then MIG slices and shares.

    Kubernetes has no index for a GPU, so the indexes are ours.
    """
    product = labels.get(PRODUCT, "")
    compute = _version(labels, COMPUTE)
    memory = int(labels[GPU_MEMORY]) << 20 if labels.get(GPU_MEMORY, "").isdigit() else 0
    found: list[GpuFacts] = []
    model = _MIG_PRODUCT.sub("", product.removesuffix(_SHARED_PRODUCT)).replace("-", " ") or "GPU"
    for name, kind in gpu_kinds(labels, has, resource).items():
        count = int(quantity(has[name]))
        if share_of(kind):
            shares = GpuFacts(len(found), f"{node}/{name}", model, kind, 0, compute, shares=count)
            found += [shares] if count else []
            continue
        found += [
            GpuFacts(
                len(found) + i,
                f"{node}/{name}/{i}",
                model,
                kind,
                memory if name == resource else 0,
                compute,
            )
            for i in range(count)
        ]
    return found


def gpu_kinds(labels: Mapping[str, str], has: Mapping[str, str], resource: str) -> dict[str, str]:
    """Return the class of each GPU resource of a node: {"nvidia.com/gpu.shared": "h100.shared"}.

    The device plugin either renames a resource that it shares, or marks the product ("-SHARED").
    With the MIG strategy "single", the product has the profile of the slices that the resource counts.
    """
    product, family = labels.get(PRODUCT, ""), resource.partition("/")[0]
    share = MPS if labels.get(f"{family}/gpu.sharing-strategy") == MPS else SHARED
    whole, renamed = type_of(product.removesuffix(_SHARED_PRODUCT)), f"{resource}.shared"
    found = {}
    for name in sorted(has, key=lambda n: (n != resource, n)):
        if name == renamed:
            found[name] = share_type(whole, share)
        elif name == resource:
            is_shared = product.endswith(_SHARED_PRODUCT) and renamed not in has
            found[name] = share_type(whole, share) if is_shared else whole
        elif name.startswith(f"{family}/mig-"):
            kind, copies = name.partition("/")[2], labels.get(f"{name}.replicas", "")
            is_shared = copies.isdigit() and int(copies) > 1 and not share_of(kind)
            found[name] = share_type(kind, SHARED) if is_shared else kind
    return found


@dataclass(frozen=True)
class GpuKinds:
    """The classes of GPUs of a cluster.

    `products`: the product labels of each class. `resources`: the resource of each class of shares
    or slices. `whole` and `parts`: the products of nodes whose usual resource is whole GPUs, or not.
    """

    products: Mapping[str, set[str]] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)
    whole: Sequence[str] = ()
    parts: Sequence[str] = ()


def kinds_of(found: Iterable[Object], resource: str) -> GpuKinds:
    """Return the classes of GPUs of these nodes."""
    products: dict[str, set[str]] = {}
    resources: dict[str, str] = {}
    usual: dict[bool, set[str]] = {True: set(), False: set()}
    for node in found:
        labels = node["metadata"].get("labels", {})
        product = labels.get(PRODUCT, "")
        kinds = gpu_kinds(labels, node.get("status", {}).get("allocatable", {}), resource)
        for name, kind in kinds.items():
            is_part = bool(share_of(kind)) or kind.startswith("mig-")
            if is_part and (kind not in resources or "/mig-" in name):
                resources[kind] = name
            if name == resource:
                usual[not is_part].add(product)
        if product and not any(map(share_of, kinds.values())):
            kinds = {**kinds, "": type_of(product)}  # perhaps none is ready now
        for kind in kinds.values():
            products.setdefault(kind, set()).add(product)
    return GpuKinds(products, resources, sorted(usual[True]), sorted(filter(None, usual[False])))


def _version(labels: Mapping[str, str], names_of_parts: Sequence[str]) -> str:
    return ".".join(filter(None, (labels.get(name, "") for name in names_of_parts)))


def disk_pressure(found: Iterable[Object], now: datetime) -> dict[str, datetime]:
    """Return until when each node may have had little disk space: now, or its last change of that."""
    known = {}
    for node in found:
        for condition in node.get("status", {}).get("conditions", ()):
            if condition.get("type") != "DiskPressure":
                continue
            since = condition.get("lastTransitionTime")
            if condition.get("status") == "True":
                known[node["metadata"]["name"]] = now
            elif since:
                known[node["metadata"]["name"]] = datetime.fromisoformat(since)
    return known


def _trouble(node: Object) -> str:
    for condition in node.get("status", {}).get("conditions", ()):
        is_bad = condition.get("status") != (
            "True" if condition.get("type") == "Ready" else "False"
        )
        if is_bad and condition.get("type") == "Ready":
            return (
                "not ready: "
                f"{condition.get('message') or condition.get('reason') or 'its kubelet does not answer'}"
            )
    return ""


def _kept_out(meta: Object, spec: Object, tolerations: Sequence[Mapping[str, str]]) -> str:
    """Return why no job of ours may start there."""
    if spec.get("unschedulable"):
        why = meta.get("annotations", {}).get(names.DRAINED)
        return why or "cordoned"
    for taint in spec.get("taints", ()):
        if (
            taint.get("effect") in _HIDING
            and taint["key"] not in _KNOWN_OTHERWISE
            and taint["key"] != names.POOL  # our own, for some of our jobs
            and not tolerated(taint, tolerations)
        ):
            value = f"={taint['value']}" if taint.get("value") else ""
            return (
                f"tainted {taint['key']}{value}:{taint['effect']}, which jobs here do not tolerate"
            )
    return ""
