"""Keep GPUs for one team: nodes by a label and a taint, or quota by a ClusterQueue of its own.

Both are idempotent. A taint keeps new pods out and lets running ones end. The quota is taken from
the ClusterQueue of the pool in the same write that notes it there, so it is never taken twice.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Rejected, ReservationFacts, ReservationRequest, Unavailable
from schedulers.kubernetes import names, nodes
from schedulers.kubernetes.client import ApiError, Client, segment
from schedulers.kubernetes.pod import gpu_resource, taint
from schedulers.kubernetes.queues import GROUP, Queues

Object = dict[str, Any]


class NodeReservations:
    """Nodes with the label and the taint of a reservation."""

    def __init__(self, wire: Client):
        self._wire = wire

    def text(self, request: ReservationRequest, shown: str) -> Message:
        return Message.plural(
            len(request.nodes),
            "Labels and taints node {nodes} with {key}={name}: only pods of {team} start there.",
            "Labels and taints {n} nodes ({nodes}) with {key}={name}: only pods of {team} start "
            "there.",
            n=len(request.nodes),
            nodes=shown,
            key=names.POOL,
            name=request.name,
            team=request.team,
        )

    def reserve(self, request: ReservationRequest) -> None:
        found = {node["metadata"]["name"]: node for node in self._nodes()}
        if missing := [name for name in request.nodes if name not in found]:
            raise Rejected(Message("There is no node {name}.", name=missing[0]))
        prefix = request.name.rpartition("-")[0]
        for name in request.nodes:
            holder = _label(found[name])
            if holder and not holder.startswith(prefix):
                raise Rejected(
                    Message(
                        "Node {name} is labeled {key}={holder}, which this portal did not do. "
                        "Remove the label.",
                        name=name,
                        key=names.POOL,
                        holder=holder,
                    )
                )
        for name, node in found.items():  # first those that are no longer part of it
            if _label(node) == request.name and name not in request.nodes:
                self._mark(node, "")
        for name in request.nodes:
            self._mark(found[name], request.name)

    def unreserve(self, reservation: str) -> None:
        for node in self._nodes():
            if _label(node) == reservation:
                self._mark(node, "")

    def all(self, prefix: str) -> list[ReservationFacts]:
        found: dict[str, list[str]] = {}
        for node in self._nodes():
            holder = _label(node)
            if holder.startswith(prefix):
                # a node without the taint does not count, so it is tainted again
                of_it = found.setdefault(holder, [])
                if taint(holder) in _taints(node):
                    of_it.append(node["metadata"]["name"])
        return [ReservationFacts(name, tuple(of_it)) for name, of_it in found.items()]

    def _nodes(self) -> list[Object]:
        return list(self._wire.get("/api/v1/nodes")["items"])

    def _mark(self, node: Object, reservation: str) -> None:
        """Set label and taint, or remove both; fails if the node changed since it was read."""
        taints = [one for one in _taints(node) if one.get("key") != names.POOL]
        if reservation:
            taints.append(taint(reservation))
        if taints == _taints(node) and _label(node) == reservation:
            return
        meta = node["metadata"]
        self._wire.patch(
            f"/api/v1/nodes/{segment(meta['name'])}",
            {
                "metadata": {
                    "resourceVersion": meta["resourceVersion"],
                    "labels": {names.POOL: reservation or None},
                },
                "spec": {"taints": taints or None},
            },
        )


def _label(node: Object) -> str:
    return str(node["metadata"].get("labels", {}).get(names.POOL) or "")


def _taints(node: Object) -> list[Object]:
    """Return the taints without what the server adds to ours."""
    return [
        {k: v for k, v in one.items() if k != "timeAdded"}
        for one in node.get("spec", {}).get("taints") or ()
    ]


class QuotaReservations:
    """ClusterQueues with GPUs that the ClusterQueue of the pool no longer has."""

    def __init__(self, wire: Client, queues: Queues, prefix: str, usual_resource: str):
        self._wire, self._queues, self._prefix = wire, queues, prefix
        self._usual = usual_resource

    def text(self, request: ReservationRequest) -> Message:
        if not request.partition:
            raise Rejected(
                Message("The pool names no queue of Kueue, whose quota the team could get.")
            )
        return Message.plural(
            request.gpus,
            "Moves the quota of {n} GPU from the queue {queue} to a queue of {team} alone ({name}).",
            "Moves the quota of {n} GPUs from the queue {queue} to a queue of {team} alone "
            "({name}).",
            n=request.gpus,
            queue=request.partition,
            team=request.team,
            name=request.name,
        )

    def reserve(self, request: ReservationRequest) -> None:
        space = names.namespace_name(self._prefix, request.org, request.team)
        resource = gpu_resource(request.gpu_type, self._usual)
        local = self._local(request.partition, space)
        base = self._cluster_queues().get(local["spec"]["clusterQueue"])
        if base is None:
            raise Rejected(
                Message(
                    "The queue of the pool has no ClusterQueue that Muster may see and change; "
                    "apply deploy/kubernetes-role.yaml."
                )
            )
        flavor = self._take(base, request.name, resource, request.gpus)
        origin = {
            "clusterQueue": base["metadata"]["name"],
            "queue": request.partition,
            "resource": resource,
            "flavor": flavor,
        }
        groups = _groups_with(base, resource, flavor, request.gpus)
        own = self._cluster_queues().get(request.name)
        if own is None:
            self._create(
                "clusterqueues",
                {
                    "kind": "ClusterQueue",
                    "metadata": {
                        "name": request.name,
                        "labels": {names.MANAGED: names.MUSTER, names.PORTAL: self._prefix},
                        "annotations": {names.FROM: json.dumps(origin)},
                    },
                    "spec": {
                        "namespaceSelector": {
                            "matchLabels": {"kubernetes.io/metadata.name": space}
                        },
                        "resourceGroups": groups,
                    },
                },
            )
        elif _gpus(own, resource) != request.gpus:
            self._wire.patch(self._path(request.name), {"spec": {"resourceGroups": groups}})
        if not any(
            (one["metadata"]["namespace"], one["metadata"]["name"]) == (space, request.name)
            for one in self._list("localqueues")
        ):
            self._create(
                f"namespaces/{segment(space)}/localqueues",
                {
                    "kind": "LocalQueue",
                    "metadata": {"name": request.name, "namespace": space},
                    "spec": {"clusterQueue": request.name},
                },
            )

    def unreserve(self, name: str) -> None:
        own = self._cluster_queues().get(name)
        if own is not None:
            origin = json.loads(own["metadata"].get("annotations", {}).get(names.FROM) or "{}")
            for one in self._list("localqueues"):
                if one["metadata"]["name"] == name:
                    self._send_back(one["metadata"]["namespace"], name, origin.get("queue", ""))
                    self._remove(
                        f"namespaces/{segment(one['metadata']['namespace'])}/localqueues", name
                    )
            self._remove("clusterqueues", name)
            if name in self._cluster_queues():  # Kueue keeps it until its jobs have ended
                raise Unavailable(Message("Jobs still use the quota of {name}.", name=name))
        for base in self._cluster_queues().values():
            if name in _given(base):
                self._give_back(base, name)

    def all(self, prefix: str) -> list[ReservationFacts]:
        queues = self._cluster_queues()
        given = {name for queue in queues.values() for name in _given(queue)}
        local = {one["metadata"]["name"] for one in self._list("localqueues")}
        found = []
        for name in {name for name in (*queues, *given) if name.startswith(prefix)}:
            own = queues.get(name)
            is_whole = own is not None and name in given and name in local
            origin = (own or {}).get("metadata", {}).get("annotations", {}).get(names.FROM)
            resource = json.loads(origin)["resource"] if origin else self._usual
            found.append(
                ReservationFacts(name, gpus=_gpus(own, resource) if own and is_whole else 0)
            )
        return found

    def _take(self, base: Object, name: str, resource: str, gpus: int) -> str:
        """Take the quota from a flavor of the pool's queue, once; return the flavor."""
        given = _given(base)
        before = given.get(name)
        if before and before["gpus"] == gpus:
            return str(before["flavor"])
        groups = copy.deepcopy(base["spec"].get("resourceGroups", []))
        for _, flavor, row in _rows(groups, resource):
            back = before["gpus"] if before and before["flavor"] == flavor["name"] else 0
            left = int(nodes.quantity(row["nominalQuota"])) + back - gpus
            if left < 0:
                continue
            row["nominalQuota"] = str(left)
            given[name] = {"gpus": gpus, "flavor": flavor["name"], "resource": resource}
            self._write(base, groups, given)
            return str(flavor["name"])
        raise Rejected(
            Message(
                "No flavor of {queue} has a quota of {n} GPUs left.",
                queue=base["metadata"]["name"],
                n=gpus,
            )
        )

    def _give_back(self, base: Object, name: str) -> None:
        given = _given(base)
        part = given.pop(name)
        groups = copy.deepcopy(base["spec"].get("resourceGroups", []))
        for _, flavor, row in _rows(groups, part["resource"]):
            if flavor["name"] == part["flavor"]:
                row["nominalQuota"] = str(int(nodes.quantity(row["nominalQuota"])) + part["gpus"])
        self._write(base, groups, given)

    def _write(self, base: Object, groups: Sequence[Object], given: Mapping[str, Any]) -> None:
        meta = base["metadata"]
        note = json.dumps(given, sort_keys=True) if given else None
        change: Object = {"annotations": {names.QUOTA: note}}
        if version := meta.get("resourceVersion"):
            change["resourceVersion"] = version
        self._wire.patch(
            self._path(meta["name"]), {"metadata": change, "spec": {"resourceGroups": groups}}
        )

    def _send_back(self, space: str, name: str, queue: str) -> None:
        """Let the jobs that still wait in the team's queue wait in that of the pool."""
        path = f"/apis/batch/v1/namespaces/{segment(space)}/jobs"
        for job in self._wire.get(path, labelSelector=f"{names.QUEUE}={name}")["items"]:
            if queue and job["spec"].get("suspend"):
                meta = {"uid": job["metadata"]["uid"], "labels": {names.QUEUE: queue}}
                self._wire.patch(f"{path}/{segment(job['metadata']['name'])}", {"metadata": meta})

    def _local(self, queue: str, space: str) -> Object:
        """Return the pool's LocalQueue, of the team's namespace if it has one there."""
        found = [one for one in self._list("localqueues") if one["metadata"]["name"] == queue]
        found.sort(key=lambda one: one["metadata"]["namespace"] != space)
        if not found:
            raise Rejected(Message("Kueue has no queue {name}.", name=repr(queue[:60])))
        return found[0]

    def _cluster_queues(self) -> dict[str, Object]:
        return {one["metadata"]["name"]: one for one in self._list("clusterqueues")}

    def _list(self, kind: str) -> list[Object]:
        return list(self._wire.get(f"{self._api()}/{kind}")["items"])

    def _create(self, where: str, made: Object) -> None:
        body = {"apiVersion": self._api().removeprefix("/apis/"), **made}
        try:
            self._wire.post(f"{self._api()}/{where}", body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    def _remove(self, where: str, name: str) -> None:
        try:
            self._wire.delete(f"{self._api()}/{where}/{segment(name)}")
        except ApiError as error:
            if error.status != 404:
                raise

    def _path(self, name: str) -> str:
        return f"{self._api()}/clusterqueues/{segment(name)}"

    def _api(self) -> str:
        version = self._queues.version()
        if not version:
            raise Rejected(Message("Kueue is not installed in this cluster."))
        return f"{GROUP}/{version}"


def _given(queue: Object) -> dict[str, Any]:
    """Return what a ClusterQueue gave to reservations: GPUs, flavor and resource by name."""
    return dict(json.loads(queue["metadata"].get("annotations", {}).get(names.QUOTA) or "{}"))


def _rows(groups: Sequence[Object], resource: str) -> list[tuple[Object, Object, Object]]:
    """Return (group, flavor, quota) for each flavor with the resource."""
    return [
        (group, flavor, row)
        for group in groups
        for flavor in group.get("flavors", ())
        for row in flavor.get("resources", ())
        if row.get("name") == resource
    ]


def _gpus(queue: Object, resource: str) -> int:
    groups = queue["spec"].get("resourceGroups", [])
    return sum(int(nodes.quantity(row["nominalQuota"])) for *_, row in _rows(groups, resource))


def _groups_with(base: Object, resource: str, flavor: str, gpus: int) -> list[Object]:
    """Return the groups of a ClusterQueue with this quota alone; others stay as upper limits."""
    groups: list[Object] = copy.deepcopy(base["spec"].get("resourceGroups", []))
    for group in groups:
        for one in group.get("flavors", ()):
            for row in one.get("resources", ()):
                row.pop("borrowingLimit", None)
                row.pop("lendingLimit", None)
    for _, one, row in _rows(groups, resource):
        row["nominalQuota"] = str(gpus) if one["name"] == flavor else "0"
    return groups
