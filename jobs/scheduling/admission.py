"""Decide who may start now and, if not, why and what would help. Pure: no I/O.

The planner, the pending explanation and the dry run share this module, so the explanation always
matches the decision. What fits on the nodes is decided by `schedulers.capacity`. `ClusterSnapshot` is a
snapshot of limits and nodes; `judge` decides, `take` books an admitted request so that the next one sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from uuid import UUID

from portal.core.formatting import gpu_text, scale_of
from portal.core.messages import Message
from schedulers import explanations
from schedulers.capacity import (
    KINDS,
    STEPS,
    AmountChange,
    Candidates,
    NodeCapacity,
    ReservedGpus,
    ResourceRequest,
    idle,
    smallest_change,
    withhold,
)
from schedulers.contract import Placement
from schedulers.states import Wait
from workspaces.quotas.limits import (
    GPU_HOURS,
    STORAGE,
    Meter,
    QuotaUsage,
    checked_resources,
    first_full_meter,
    freed_by,
    meters,
    meters_after,
    unit_of,
)

QUOTA_WAITS = {"user": Wait.QUOTA_USER, "team": Wait.QUOTA_TEAM, "org": Wait.QUOTA_ORG}
_GIB = 1 << 30
_STEPS = {**STEPS, "cpu": 100}  # the portal gives out tenths of a core


@dataclass(frozen=True)
class AdmissionRequest:
    """What one attempt requests, and whose limits it counts against."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    resources: ResourceRequest
    job_id: UUID | None = None
    max_parallel: int | None = None
    pool_type: str = ""  # the only type of GPUs in its pool
    avoid: tuple[frozenset[str], frozenset[str]] | None = None  # nodes, and UUIDs of GPUs


@dataclass(frozen=True)
class AdmissionDecision:
    """The decision on one request.

    `wait` is None if it may start (at `place`, if the portal places jobs). Otherwise `facts` has
    the numbers: resource, ask, used, limit, unit (quotas) or free, total (capacity). `gpu_types` are
    the GPUs that it gets by type, if it asked for any type: they count against limits of a type.
    """

    wait: Wait | None
    place: Placement | None = None
    gpu_types: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass
class ClusterSnapshot:
    """A snapshot of the free capacity.

    `limits`: usage of the meters with a limit or a guarantee. `running`: active tasks by job (for
    arrays). `places` is False if a scheduler chooses the nodes. `has_gangs`: jobs may use several
    nodes. `reserved_gpus`: what is kept for single teams.
    """

    limits: dict[Meter, QuotaUsage]
    nodes: Sequence[NodeCapacity]
    places: bool = True
    has_gangs: bool = False
    trouble: str = ""
    running: dict[UUID, int] = field(default_factory=dict)
    only_org: UUID | None = None  # jobs of other organizations wait, because of `only_text`
    only_text: str = ""
    reserved_gpus: Sequence[ReservedGpus] = ()
    only_gpu_type: str = ""  # of a cluster whose scheduler chooses the nodes

    def judge(self, request: AdmissionRequest) -> AdmissionDecision:
        """Return the dominant reason, in the order of `Wait`."""
        need = request.resources
        candidates = Candidates(self.nodes)
        if self.places and self.nodes and not candidates.could_run(need):
            return self._impossible(need)
        if self.trouble:
            return AdmissionDecision(Wait.CLUSTER_DOWN, facts={"said": self.trouble})
        if self.only_org and request.org_id != self.only_org:
            return AdmissionDecision(Wait.RESERVED, facts={"text": self.only_text})
        if (
            request.job_id
            and request.max_parallel
            and self.running.get(request.job_id, 0) >= request.max_parallel
        ):
            return AdmissionDecision(
                Wait.ARRAY_LIMIT,
                facts={"running": self.running[request.job_id], "limit": request.max_parallel},
            )
        known = self._known_types(request)
        if over := self._over_quota(request, known):
            return over
        if not self.places:
            return AdmissionDecision(None, gpu_types=known)
        full = self._full_types(request)
        candidates = self._candidates(request, need)
        nodes = _without_types(candidates, full).first_fit(need)
        if len(nodes) == need.nodes:
            first, *others = (node.place(need) for node in nodes)
            place = replace(first, others=tuple(others))
            return AdmissionDecision(None, place, self._types_of(request, place))
        if full and len(candidates.first_fit(need)) == need.nodes:
            return self._over_limit(request, full[next(iter(full))])
        return self._reserved(request, need) or self._no_capacity(candidates, need)

    def _known_types(self, request: AdmissionRequest) -> Mapping[str, int]:
        """Return the GPUs by type of a request for any type, where only one type is possible."""
        need, kind = request.resources, request.pool_type or self.only_gpu_type
        is_any = need.gpu and not need.gpu_type and not self.places
        return {kind: need.in_all("gpu")} if is_any and kind else {}

    def _full_types(self, request: AdmissionRequest) -> dict[str, Meter]:
        """Return the types of GPUs that a request for any type must not get, with the full meter."""
        need = request.resources
        if need.gpu_type or not need.gpu:
            return {}
        limited = {meter.resource for meter, now in self.limits.items() if now.limit is not None}
        types = {gpu.type for node in self.nodes for gpu in node.free_gpus}
        found = {}
        for kind in sorted(kind for kind in types if f"gpu.{kind}" in limited):
            amounts = type_meters(request, {kind: need.in_all("gpu")})
            if meter := first_full_meter(self.limits, amounts):
                found[kind] = meter
        return found

    def _types_of(self, request: AdmissionRequest, place: Placement) -> Mapping[str, int]:
        """Return the GPUs of a placement by type, for a request for any type."""
        if request.resources.gpu_type or not request.resources.gpu:
            return {}
        chosen = {part.node: set(part.gpu_uuids) for part in place.parts}
        return Counter(
            gpu.type
            for node in self.nodes
            for gpu in node.free_gpus
            if gpu.uuid in chosen.get(node.name, ())
        )

    def _candidates(self, request: AdmissionRequest, need: ResourceRequest) -> Candidates:
        """Return the nodes that the team may use, without the GPUs that failed.

        Without their nodes if those GPUs are unknown; all if only the failed GPUs could run it.
        """
        nodes = self._open_to(request.team_id)
        if request.avoid:
            names, uuids = request.avoid
            left = Candidates(
                [node.avoiding(uuids) for node in nodes if uuids or node.name not in names]
            )
            if left.could_run(need):
                return left
        return Candidates(nodes)

    def take(
        self,
        request: AdmissionRequest,
        place: Placement | None,
        gpu_types: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Book an admitted request."""
        amounts = {**meters_of_request(request), **type_meters(request, gpu_types)}
        self.limits.update(meters_after(self.limits, amounts))
        if request.job_id:
            self.running[request.job_id] = self.running.get(request.job_id, 0) + 1
        parts = {part.node: part for part in place.parts} if place else {}
        for part in parts.values():
            self._take_reserved_gpus(request.team_id, part)
        if parts:
            self.nodes = [
                node.without(round(here.cpus * 1000), here.memory, here.gpu_uuids)
                if (here := parts.get(node.name))
                else node
                for node in self.nodes
            ]

    def smallest_limit(self, request: AdmissionRequest) -> dict[str, int]:
        """Return {"enough": limit} if raising the one limit in the way would admit the request now.

        Empty if that alone would not help.
        """
        amounts = meters_of_request(request)
        meter = first_full_meter(self.limits, amounts)
        if meter is None and (full := self._full_types(request)):
            kind, meter = next(iter(full.items()))
            amounts = type_meters(request, {kind: request.resources.in_all("gpu")})
        if meter is None:
            return {}
        now = self.limits[meter]
        enough = (
            now.used + amounts[meter] + max(now.promised - freed_by(meter, self.limits, amounts), 0)
        )
        if meter.resource == GPU_HOURS:  # usage grows meanwhile: up to the next whole hour
            enough = (now.used // scale_of(GPU_HOURS) + 1) * scale_of(GPU_HOURS)
        # The job will write more than one byte: up to the next whole GiB.
        if meter.resource == STORAGE:
            enough = (enough // _GIB + 1) * _GIB
        raised = replace(self, limits={**self.limits, meter: now.limited(enough)})
        return {"enough": enough} if raised.judge(request).wait is None else {}

    def smallest_change(self, request: AdmissionRequest) -> AmountChange | None:
        """Return the smallest reduction of one amount that would be admitted now, if any."""

        def is_admitted(resources: ResourceRequest) -> bool:
            return self.judge(replace(request, resources=resources)).wait is None

        return smallest_change(request.resources, is_admitted, _STEPS)

    def _impossible(self, need: ResourceRequest) -> AdmissionDecision:
        """Return the verdict if the job could not run even if all nodes were empty."""
        if need.nodes > 1:
            return _on_several_nodes(Candidates(self.nodes), need)
        best = max(self.nodes, key=lambda node: [node.total[k] for k in ("gpu", "memory", "cpu")])
        has = {kind: best.total.get(need.resource(kind), 0) for kind in KINDS}
        kind = next(kind for kind in KINDS if need.of(kind) > has[kind])
        return AdmissionDecision(
            Wait.IMPOSSIBLE,
            facts={
                "resource": kind,
                "ask": need.of(kind),
                "node": best.name,
                "unit": unit_of(kind),
                "largest": has[kind],
                "type": need.gpu_type,
            },
        )

    def _over_quota(
        self, request: AdmissionRequest, gpu_types: Mapping[str, int]
    ) -> AdmissionDecision | None:
        amounts = {**meters_of_request(request), **type_meters(request, gpu_types)}
        meter = first_full_meter(self.limits, amounts)
        return self._over_limit(request, meter) if meter else None

    def _over_limit(self, request: AdmissionRequest, meter: Meter) -> AdmissionDecision:
        """Return the verdict for a meter that has no room for the request."""
        amounts = dict(meters_of_request(request))
        if meter not in amounts:  # of a type of GPUs, for a request for any type
            kind = meter.resource.removeprefix("gpu.")
            amounts |= type_meters(request, {kind: request.resources.in_all("gpu")})
        now, amount = self.limits[meter], amounts[meter]
        kept = now.promised - freed_by(meter, self.limits, amounts)
        return AdmissionDecision(
            QUOTA_WAITS[meter.scope],
            facts={
                "scope": meter.scope,
                "resource": meter.resource,
                "ask": amount,
                "used": now.used,
                "limit": now.limit,
                "unit": unit_of(meter.resource),
            }
            | ({"kept": kept} if kept else {}),
        )

    def _open_to(self, team_id: UUID) -> Sequence[NodeCapacity]:
        """Return the nodes as the team may use them, those reserved for it first."""
        if not self.reserved_gpus:
            return self.nodes
        others: dict[str, list[ReservedGpus]] = {}
        for hold in self.reserved_gpus:
            if hold.team_id != team_id:
                others.setdefault(hold.node, []).append(hold)
        own = {hold.node for hold in self.reserved_gpus if hold.team_id == team_id and hold.gpus}
        seen = [withhold(node, others.get(node.name, ())) for node in self.nodes]
        return sorted(seen, key=lambda node: node.name not in own)

    def _take_reserved_gpus(self, team_id: UUID, place: Placement) -> None:
        """Count the GPUs of a placement against the reservations of its team."""
        if not self.reserved_gpus:
            return
        node = next(node for node in self.nodes if node.name == place.node)
        left = Counter(gpu.type for gpu in node.free_gpus if gpu.uuid in place.gpu_uuids)
        reserved = []
        for hold in self.reserved_gpus:
            if (hold.team_id, hold.node) == (team_id, place.node):
                used = min(left[hold.gpu_type], hold.gpus)
                left[hold.gpu_type] -= used
                hold = replace(hold, gpus=hold.gpus - used)
            reserved.append(hold)
        self.reserved_gpus = reserved

    def _reserved(
        self, request: AdmissionRequest, need: ResourceRequest
    ) -> AdmissionDecision | None:
        """Return the verdict if only reservations of other teams prevent the start."""
        if not self.reserved_gpus or not Candidates(self.nodes).admits(need):
            return None
        in_way = [
            hold
            for hold in self.reserved_gpus
            if hold.team_id != request.team_id
            and hold.gpus
            and (hold.is_whole or need.gpu_type in ("", hold.gpu_type))
        ]
        if not in_way:  # it waits because it avoids GPUs that failed
            return None
        first = min(in_way, key=lambda hold: hold.until)
        return AdmissionDecision(
            Wait.RESERVED,
            facts={
                "text": _reserved_text(first, request.org_id),
                "until": first.until.isoformat(),
            },
        )

    def _no_capacity(self, candidates: Candidates, need: ResourceRequest) -> AdmissionDecision:
        """Return the verdict for nodes that are full, fragmented or out of service."""
        if not self.nodes:
            return AdmissionDecision(Wait.CAPACITY)
        if need.nodes > 1:
            return _on_several_nodes(candidates, need)
        seen = candidates.judge(need)
        if seen.wait == Wait.NODES_DOWN:
            return AdmissionDecision(seen.wait)
        if not seen.kind:
            return AdmissionDecision(
                seen.wait, facts={"apart": [kind for kind in KINDS if need.of(kind)]}
            )
        resource = need.resource(seen.kind)
        return AdmissionDecision(
            seen.wait,
            facts={
                "resource": seen.kind,
                "ask": need.of(seen.kind),
                "free": candidates.sum(resource),
                "total": candidates.sum(resource, idle),
                "most_on_one_node": candidates.most(resource),
                "unit": unit_of(seen.kind),
            },
        )


def _without_types(candidates: Candidates, types: Collection[str]) -> Candidates:
    """Return the nodes as if they had no GPUs of these types."""
    if not types:
        return candidates
    return Candidates(
        [
            node.avoiding({gpu.uuid for gpu in node.free_gpus if gpu.type in types})
            for node in candidates.nodes
        ]
    )


def _on_several_nodes(candidates: Candidates, need: ResourceRequest) -> AdmissionDecision:
    """Return the verdict for a job of several nodes, in the words for clusters that place jobs."""
    seen = candidates.judge(need)
    text, facts = explanations.nodes(
        seen, candidates, need, Message("the cluster", context="part of a sentence")
    )
    return AdmissionDecision(seen.wait, facts=facts | {"text": text})


def _reserved_text(hold: ReservedGpus, org_id: UUID) -> str:
    """Explain a reservation; a team of another organization is not named."""
    until = f"{hold.until:%Y-%m-%d %H:%M} UTC"
    gpus = Message.plural(
        hold.reserved,
        "{n} {type} GPU",
        "{n} {type} GPUs",
        context="number of things",
        n=hold.reserved,
        type=gpu_text(hold.gpu_type),
    )
    if hold.org_id == org_id:
        return Message.plural(
            hold.reserved,
            "{gpus} is reserved for {team} until {until}.",
            "{gpus} are reserved for {team} until {until}.",
            gpus=gpus,
            team=hold.team_name,
            until=until,
        )
    return Message.plural(
        hold.reserved,
        "{gpus} is reserved for another team until {until}.",
        "{gpus} are reserved for another team until {until}.",
        gpus=gpus,
        until=until,
    )


@lru_cache(256)  # a batch mostly has few users with few shapes of requests
def _metered(
    org_id: UUID, team_id: UUID, user_id: UUID, resources: ResourceRequest
) -> Mapping[Meter, int]:
    return MappingProxyType(meters(org_id, team_id, user_id, checked_resources(resources.totals)))


def meters_of_request(request: AdmissionRequest) -> Mapping[Meter, int]:
    """Return what the request would hold on each meter."""
    return _metered(request.org_id, request.team_id, request.user_id, request.resources)


def type_meters(request: AdmissionRequest, gpu_types: Mapping[str, int]) -> dict[Meter, int]:
    """Return what GPUs of these types hold on the meters by type."""
    resources = {f"gpu.{kind}": n for kind, n in gpu_types.items()}
    return meters(request.org_id, request.team_id, request.user_id, resources)


def plan(
    snapshot: ClusterSnapshot, requests: Sequence[AdmissionRequest]
) -> Iterator[tuple[AdmissionRequest, AdmissionDecision]]:
    """Judge in order and book what is admitted; backfill without reservations."""
    for request in requests:
        decision = snapshot.judge(request)
        if decision.wait is None:
            snapshot.take(request, decision.place, decision.gpu_types)
        yield request, decision
