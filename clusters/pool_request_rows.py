"""What the API shows of requests for GPUs of a pool, and of what is kept for them."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from clusters.capacity import natural
from clusters.models import PoolRequest, PoolReservation
from clusters.workload import EffectShape
from portal.core.shapes import Id, Time
from workspaces.approvals.selectors import ApprovalRequestShape, base_row


class ReservationShape(TypedDict):
    name: str
    state: Annotated[str, "State of a reservation."]
    note: str
    gpus: int
    nodes: list[str]
    starts_at: Time
    ends_at: Time
    applied_at: Time | None
    checked_at: Time | None


class PoolRequestShape(ApprovalRequestShape):
    team: str
    gpu_type: str
    gpus: int
    purpose: str
    budget: Annotated[int | None, "GPU-hours meant to be used."]
    starts_at: Time
    ends_at: Time
    renews: Id | None
    pool: str | None
    reservation: ReservationShape | None
    what_if: NotRequired[Annotated[list[EffectShape], "The effect in each pool, for operators."]]


def request_row(row: PoolRequest) -> PoolRequestShape:
    """Return a request as the API does."""
    return {
        **base_row(row),
        "team": row.team.slug,
        "gpu_type": row.gpu_type,
        "gpus": row.gpus,
        "purpose": row.purpose,
        "budget": row.budget,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "renews": row.renews_id,
        "pool": row.pool.name if row.pool else None,
        "reservation": reservation_row(row.reservation) if row.reservation else None,
    }


def reservation_row(row: PoolReservation) -> ReservationShape:
    """Return how far the cluster keeps the GPUs for the team."""
    return {
        "name": row.name,
        "state": row.state,
        "note": row.note,
        "gpus": sum(row.nodes.values()),
        "nodes": sorted(row.nodes, key=natural),
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "applied_at": row.applied_at,
        "checked_at": row.checked_at,
    }
