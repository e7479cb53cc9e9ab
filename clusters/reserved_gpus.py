"""What reservations keep from other teams on each node now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from uuid import UUID

from clusters.models import PoolReservation
from clusters.workload import workload
from portal.core import clock
from schedulers.capacity import ReservedGpus, ResourceRequest
from workspaces.tenancy.scope import platform_scope

Key = tuple[UUID, str]  # cluster, node


def reserved_in(clusters: Iterable[UUID]) -> dict[Key, list[ReservedGpus]]:
    """Return what is reserved now on these clusters, by cluster and node.

    What a team uses already counts against its own reservations, the earliest first.
    """
    now = clock.now()
    with platform_scope("reservations keep GPUs from every organization"):
        rows = list(
            PoolReservation.objects.select_related("team")
            .exclude(state=PoolReservation.State.ENDED)
            .exclude(state=PoolReservation.State.FAILED, applied_at=None)
            .filter(cluster__in=list(clusters), starts_at__lte=now, ends_at__gt=now)
            .order_by("starts_at", "id")
        )
    if not rows:
        return {}
    used = workload().gpus_used_by({row.team_id for row in rows}, {row.cluster_id for row in rows})
    found: dict[Key, list[ReservedGpus]] = defaultdict(list)
    for row in rows:
        for node, gpus in row.nodes.items():
            by_type = used.get((row.cluster_id, node, row.team_id), Counter())
            own = 0
            for kind in (row.gpu_type, ""):
                part = min(by_type[kind], gpus - own)
                by_type[kind] -= part
                own += part
            found[row.cluster_id, node].append(
                ReservedGpus(
                    node,
                    row.team_id,
                    row.org_id,
                    row.team.name,
                    row.gpu_type,
                    gpus - own,
                    row.gpus,
                    row.ends_at,
                    row.is_whole,
                )
            )
    return found


def reservations_in(pools: Iterable[UUID], teams: Iterable[UUID]) -> list[PoolReservation]:
    """Return the reservations that the clusters keep now for these teams, the smallest first."""
    pools, teams, now = list(pools), list(teams), clock.now()
    if not pools:
        return []
    return list(
        PoolReservation.objects.exclude(state=PoolReservation.State.ENDED)
        .filter(pool__in=pools, team__in=teams, applied_at__isnull=False, ends_at__gt=now)
        .order_by("gpus", "id")
    )


def fits_in(row: PoolReservation, need: ResourceRequest) -> bool:
    """Return whether the reservation is large enough for a job; one without GPUs stays outside."""
    if not need.gpu or need.gpu_type not in ("", row.gpu_type):
        return False
    if row.is_whole:
        return sum(gpus >= need.gpu for gpus in row.nodes.values()) >= need.nodes
    return need.gpu * need.nodes <= row.gpus
