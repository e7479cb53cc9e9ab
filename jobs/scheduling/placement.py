"""Choose the pool of a job by what is allowed, what fits and what is free now.

Every pool that was considered gets a reason. The choice is no reservation: admission decides again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypedDict
from uuid import UUID

from django.db.models import Count

from clusters.capacity import capacity_of
from clusters.models import Cluster, Pool
from clusters.node_capacity import NodeUsage, node_usage_in
from clusters.pools import is_in, pools_for
from clusters.sharing import refusal_text
from jobs.images.check import image_misfit
from jobs.models import Attempt
from jobs.specs.stored import request_of
from portal.core.errors import InvalidInput
from portal.core.formatting import amount_text, gpu_text
from portal.core.messages import Message
from schedulers import backends, capabilities_of
from schedulers.capacity import KINDS, Candidates, ResourceRequest, ever
from schedulers.contract import Capability
from schedulers.shares import about_share, share_of
from schedulers.spec import Feature, JobSpec
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.organizations.team_rules import TeamRules
from workspaces.tenancy.scope import platform_scope

# Features that Muster provides on every cluster.
HERE = frozenset({Feature.OUTPUTS, Feature.POOLS, Feature.SECRETS})
FEATURES = {
    Capability.IMAGES: Feature.IMAGES,
    Capability.INPUTS: Feature.INPUTS,
    Capability.WORKSPACES: Feature.WORKSPACES,
    Capability.GANG: Feature.GANG,
    Capability.SRUN: Feature.SRUN,
    Capability.ENDPOINTS: Feature.PORTS,
}
FREE, BUSY, UNKNOWN, TROUBLED, UNFIT = range(5)  # lower is better


@dataclass(frozen=True)
class Candidate:
    """One pool, or a cluster without pools, as it was considered.

    `rank`: FREE … UNFIT. `text`: the finding, for people. `field`: what makes the job unfit.
    """

    name: str
    cluster: Cluster
    pool: Pool | None
    rank: int
    text: str
    free_gpus: int = 0
    queued: int = 0
    field: str = ""
    most_gpus: int = 0  # of the type that is asked for, on one node

    @property
    def fits(self) -> bool:
        return self.rank != UNFIT


@dataclass(frozen=True)
class PoolChoice:
    """The chosen pool, the reason and the alternatives."""

    cluster: Cluster
    pool: Pool | None
    why: str
    considered: Sequence[Candidate]


def choose(actor: Actor, team: Team, spec: JobSpec) -> PoolChoice:
    """Choose the pool for a job of this team; `policy.pool` narrows it to one pool or cluster.

    Raises NotPermitted, and InvalidInput if no pool could ever run the job.
    """
    authorize(actor, Permission.JOBS_SUBMIT, team)
    places = _allowed(team)
    if not places:
        raise InvalidInput(
            Message(
                "This team has no cluster to run on. Ask an operator to connect one or to grant "
                "a pool."
            ),
            code="no_cluster",
        )
    named = [
        place
        for place in places
        if spec.policy.pool in ("", place[0].name, place[1].name if place[1] else "")
    ]
    if not named:
        names = ", ".join(pool.name if pool else cluster.name for cluster, pool in places)
        raise InvalidInput.at(
            "policy.pool",
            f"{spec.policy.pool!r} does not exist, or {team.slug} may not use it; choose from "
            f"{names}",
        )
    found = sorted(_candidates(team, named, spec), key=lambda c: (c.rank, c.queued, c.free_gpus))
    best = found[0]
    if not best.fits:
        # Where no app can ever be opened, the rest that is missing is no help.
        found = [c for c in found if c.field != "ports"] or found
        field = _unfit_field(spec, found)
        # Where only the image is in the way, the rest of the pools is no help.
        shown = [c for c in found if field != "image" or c.field == "image"]
        raise InvalidInput.at(field, _unfit_text(spec, shown))
    return PoolChoice(
        best.cluster, best.pool, _why(best, found, is_named=bool(spec.policy.pool)), found
    )


def _unfit_field(spec: JobSpec, found: Sequence[Candidate]) -> str:
    """Return the field to change: what no pool has, or else the pool or all resources.

    A pool that refuses the image has everything else, so the image is what to change.
    """
    fields = {candidate.field for candidate in found}
    if "image" in fields:
        return "image"
    if len(fields) == 1 and "resources" not in fields:
        return fields.pop()
    return "policy.pool" if spec.policy.pool else "resources"


def _unfit_text(spec: JobSpec, found: Sequence[Candidate]) -> str:
    """Return why no pool fits: one sentence if all have too few GPUs on a node, else one for each pool."""
    best = max(found, key=lambda candidate: candidate.most_gpus)
    is_size = all(c.field == _FIELDS["gpu"] for c in found)
    if len(found) == 1 or not is_size or not best.most_gpus:
        return Message.joined("; ", [Message.joined(": ", (c.name, c.text)) for c in found])
    return Message(
        "No node has {n} {gpus}; the most is {most}, in {name}.",
        n=spec.resources.gpus,
        gpus=_gpus(request_of(spec)),
        most=best.most_gpus,
        name=best.name,
    )


def _allowed(team: Team) -> list[tuple[Cluster, Pool | None]]:
    """Return pools the team may use and clusters without pools; the oldest cluster first."""
    whole = Cluster.objects.filter(is_enabled=True, pools=None).order_by("created_at")
    places: list[tuple[Cluster, Pool | None]] = [(cluster, None) for cluster in whole]
    places += [(pool.cluster, pool) for pool in pools_for(team)]
    rules = TeamRules.of(team.job_rules)
    open_to_it = (
        (c, p)
        for c, p in places
        if c.backend in backends() and rules.allows_pool(p.name if p else c.name)
    )
    return sorted(open_to_it, key=lambda place: place[0].created_at)


def names_for(teams: Iterable[Team]) -> list[str]:
    """Return the values of `policy.pool` for these teams; empty if there is no choice."""
    names = dict.fromkeys(
        pool.name if pool else cluster.name for team in teams for cluster, pool in _allowed(team)
    )
    return list(names) if len(names) > 1 else []


class GpuOfferShape(TypedDict):
    type: str
    free: int
    total: int
    most_per_node: int
    note: Annotated[str, "What a share of a GPU does not isolate; else empty."]


def gpu_offers(team: Team, *, has_ports: bool = False) -> list[GpuOfferShape]:
    """Return the GPU types of all nodes that the team may use, by name; each node counts once.

    `has_ports`: only of clusters that can open the ports of jobs.
    """
    nodes = open_nodes(team, has_ports=has_ports)
    most: Counter[str] = Counter()
    for machine in nodes:
        most |= Counter(machine.gpus)
    counts = capacity_of(nodes).gpus
    return [
        {
            "type": name,
            "free": gpus.free,
            "total": gpus.total,
            "most_per_node": most[name],
            "note": about_share(name),
        }
        for name, gpus in counts.items()
    ]


def open_nodes(team: Team, pool_name: str = "", *, has_ports: bool = False) -> list[NodeUsage]:
    """Return each node once that the team may use, of one pool or cluster if it is named.

    `has_ports`: only of clusters that can open the ports of jobs.
    """
    places = [
        (cluster, pool)
        for cluster, pool in _allowed(team)
        if pool_name in ("", cluster.name, pool.name if pool else "")
        and not (has_ports and Capability.ENDPOINTS not in _able_to(cluster))
    ]
    usage = node_usage_in({cluster.id: cluster for cluster, _ in places}.values())
    nodes = {
        machine.node.id: machine.seen_by(team.id)
        for cluster, pool in places
        for machine in usage[cluster.id]
        if pool is None or is_in(pool, machine.node, machine.gpus)
    }
    return list(nodes.values())


def _candidates(
    team: Team, places: Sequence[tuple[Cluster, Pool | None]], spec: JobSpec
) -> list[Candidate]:
    clusters = {cluster.id: cluster for cluster, _ in places}
    machines, queued = node_usage_in(clusters.values()), _queued(clusters)
    made = []
    for cluster, pool in places:
        packs = Capability.PACKS in capabilities_of(cluster.backend)
        need, usage = replace(request_of(spec), packs=packs), machines[cluster.id]
        nodes = Candidates(
            [
                m.seen_by(team.id).open_capacity
                for m in usage
                if pool is None or is_in(pool, m.node, m.gpus)
            ]
        )
        rank, text, field = _judge(cluster, pool, nodes, need, spec, is_known=bool(usage))
        made.append(
            Candidate(
                pool.name if pool else cluster.name,
                cluster,
                pool,
                rank,
                text,
                nodes.sum(need.resource("gpu")),
                queued.get(cluster.id, 0),
                field,
                nodes.most(need.resource("gpu"), ever),
            )
        )
    return made


def has_clusters_with(team: Team, *needed: Capability) -> bool:
    """Return whether the team may use a cluster that can do all of this."""
    return any(_able_to(cluster).issuperset(needed) for cluster, _ in _allowed(team))


def _able_to(cluster: Cluster) -> frozenset[Capability]:
    return capabilities_of(cluster.backend, lambda: cluster.config)


def _judge(
    cluster: Cluster,
    pool: Pool | None,
    candidates: Candidates,
    need: ResourceRequest,
    spec: JobSpec,
    *,
    is_known: bool,
) -> tuple[int, str, str]:
    able_to = _able_to(cluster)
    if faults := spec.unavailable({*HERE, *(f for c, f in FEATURES.items() if c in able_to)}):
        return UNFIT, f"{faults[0].field}: {faults[0].message}", faults[0].field
    if refusal := refusal_text(cluster):
        return UNFIT, refusal, "policy.pool"
    if not is_known:
        return UNKNOWN, Message("its nodes are not known yet"), ""
    if not candidates.could_run(need):
        return UNFIT, *_lacks(candidates, need)
    if misfit := image_misfit(spec, cluster, pool):
        return UNFIT, misfit, "image"
    if cluster.trouble:
        return TROUBLED, Message("it does not respond: {why}", why=Message(cluster.trouble)), ""
    count, gpu = len(candidates.nodes), need.resource("gpu")
    text = Message.plural(
        count,
        "{n} of {count} node has room for it now",
        "{n} of {count} nodes have room for it now",
        n=candidates.count(need),
        count=count,
    )
    if need.gpu:
        text += Message(
            "; {n} of {total} {gpus} are free",
            n=candidates.sum(gpu),
            total=candidates.sum(gpu, ever),
            gpus=_gpus(need),
        )
    return (FREE if candidates.admits(need) else BUSY), text, ""


_FIELDS = {"cpu": "resources.cpus", "memory": "resources.memory", "gpu": "resources.accelerators"}


def _lacks(candidates: Candidates, need: ResourceRequest) -> tuple[str, str]:
    """Return why not even the empty pool could run the job, and the field to change."""
    if not candidates.nodes:
        return Message("it has no nodes", context="part of a sentence"), "resources"
    if able := candidates.count(need, ever):
        text = Message(
            "{able} of its nodes could run it, and it needs {n}", able=able, n=need.nodes
        )
        return text, "num_nodes"
    for kind in KINDS:
        most = candidates.most(need.resource(kind), ever)
        if need.of(kind) <= most:
            continue
        return _lacks_kind(kind, need, most), _FIELDS[kind]
    return Message("no single node has everything it needs"), "resources"


def _lacks_kind(kind: str, need: ResourceRequest, most: int) -> str:
    if kind != "gpu":
        return Message(
            "no node has {amount}; the most is {most}",
            amount=amount_text(kind, need.of(kind)),
            most=amount_text(kind, most),
        )
    if not most:
        return Message("it has no {gpus}", context="part of a sentence", gpus=_gpus(need))
    return Message(
        "no node has {n} {gpus}; the most is {most}", n=need.gpu, gpus=_gpus(need), most=most
    )


def _gpus(need: ResourceRequest) -> Message:
    if share_of(need.gpu_type):
        return Message("shares of class {kind}", context="part of a sentence", kind=need.gpu_type)
    if need.gpu_type:
        return Message("{kind} GPUs", context="text, jobs", kind=gpu_text(need.gpu_type))
    return Message("GPUs", context="text, jobs")


def _why(best: Candidate, found: Sequence[Candidate], *, is_named: bool) -> str:
    """Return the reason for the job page, as one sentence."""
    if is_named:
        return Message("{name}, because the spec names it: {text}.", name=best.name, text=best.text)
    if len(found) == 1:
        return Message(
            "{name} is the only one open to the team: {text}.", name=best.name, text=best.text
        )
    rivals = sum(c.rank == best.rank for c in found) - 1
    reason = {
        FREE: Message("it can start there now"),
        BUSY: Message("no pool has free capacity for it, and its queue is the shortest"),
        UNKNOWN: Message("no other pool could run it"),
        TROUBLED: Message("no other pool could run it"),
    }[best.rank]
    tie = (
        Message.plural(rivals, "; {n} other is as good", "; {n} others are as good", n=rivals)
        if rivals
        else ""
    )
    return Message(
        "{name}, because {reason}{tie}: {text}.",
        context="text, jobs",
        name=best.name,
        reason=reason,
        tie=tie,
        text=best.text,
    )


def _queued(clusters: Iterable[UUID]) -> dict[UUID, int]:
    with platform_scope("how long a cluster's queue is concerns every organization"):
        rows = (
            Attempt.objects.filter(cluster__in=list(clusters), state__lt=State.RUNNING)
            .values("cluster_id")
            .annotate(n=Count("id"))
        )
        return {row["cluster_id"]: row["n"] for row in rows}
