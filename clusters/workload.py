"""Query what runs and waits on clusters. The app `jobs`, a layer above, answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Protocol, TypedDict
from uuid import UUID

from clusters.models import Cluster, Pool, PoolRequest
from portal.core.declarations import declared
from portal.core.shapes import Time
from workspaces.access.actors import Actor
from workspaces.models import Organization

# As in the filter of the job list.
RUNNING = "starting,running,stopping"
PENDING = "queued,dispatching,submitted"
Load = list[dict[str, Any]]
NodeKey = tuple[UUID, str]  # a cluster, and the name of a node, which is unique only there
JobsByNode = Mapping[NodeKey, list[dict[str, Any]]]


class Workload(Protocol):
    """Rows of `Load` are {org, org_name, team, team_name, runs, waits, gpus}, most GPUs first."""

    def reserved_by_node(
        self, clusters: Iterable[UUID]
    ) -> dict[NodeKey, tuple[int, int, list[str]]]:
        """Return (millicores, bytes, UUIDs of GPUs) that Muster reserved, by (cluster, node)."""

    def gpus_used_by(
        self, teams: Iterable[UUID], clusters: Iterable[UUID]
    ) -> dict[tuple[UUID, str, UUID], Counter[str]]:
        """Return the GPUs that jobs of these teams use, by (cluster, node, team) and type."""

    def load_of(self, actor: Actor, cluster: Cluster, pool: Pool | None = None) -> Load:
        """Return the load by team of every organization. Operators only; raises NotPermitted."""

    def load_in(self, actor: Actor, org: Organization, pool: Pool) -> Load:
        """Return the load by team of one organization, from the jobs that the actor may see."""

    def counts_in(self, actor: Actor) -> dict[tuple[UUID, UUID | None], dict[str, int]]:
        """Return `runs` and `waits` of the jobs that the actor may see, by (cluster, pool)."""

    def jobs_of_all(self, actor: Actor, names: Collection[str] | None = None) -> JobsByNode:
        """Return the running jobs of every organization, perhaps only on nodes of these names.

        Operators only; raises NotPermitted.
        """

    def active_jobs_on(self, actor: Actor, cluster: Cluster) -> int:
        """Return how many jobs have not ended there. Operators only; raises NotPermitted."""

    def active_attempts_on(self, cluster: Cluster) -> int:
        """Return how many attempts have not ended there."""


class ReservationPreviewShape(TypedDict):
    text: str
    nodes: list[str]
    gpus: int
    must_become_free: int
    problem: Annotated[str, "Why it cannot be done; else empty."]


class FreeGpusShape(TypedDict):
    at: Time
    gpus: int


class MigChangeShape(TypedDict):
    node: str
    uuid: str
    removed: Annotated[list[str], "Profiles."]
    created: Annotated[list[str], "Profiles."]


class MigEffectShape(TypedDict):
    drains: int
    nodes: list[str]
    missing: dict[str, int]
    gpus: list[MigChangeShape]


class EffectShape(TypedDict):
    pool: str
    cluster: str
    total: int
    promised: int
    free: int
    missing: Annotated[int, "GPUs that are missing even if all were free."]
    must_become_free: int
    next_free: list[FreeGpusShape]
    pending_jobs_of_others: int
    pending_gpus_of_others: int
    gpu_hours_held: int
    reservation: ReservationPreviewShape | None
    mig: MigEffectShape | None


class Effect(Protocol):
    """What granting a request for GPUs would mean in one pool (`monitoring.what_if`)."""

    def as_dict(self) -> EffectShape: ...


def effects_of(actor: Actor, row: PoolRequest, **changed: Any) -> list[Effect]:
    """Return the effect of granting a request in each pool, perhaps with other GPUs or end."""
    effects: list[Effect] = declared("providers", "POOL_REQUEST_EFFECTS")[0](actor, row, **changed)
    return effects


def workload() -> Workload:
    """Return what the app above declares in `providers.py`."""
    answers: Workload = declared("providers", "WORKLOAD")[0]
    return answers
