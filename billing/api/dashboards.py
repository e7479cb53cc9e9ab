"""REST: GPU time over time, waste, and statistics of jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.amounts import HOUR_MS, JOULES, rounded
from billing.selectors import dashboard
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, PortalView

_QUERY = [
    OpenApiParameter("range", str, description="24h, 7d (default), 30d or 90d."),
    OpenApiParameter("first", OpenApiTypes.DATE, description="Instead of range: the first day."),
    OpenApiParameter("last", OpenApiTypes.DATE),
    *(OpenApiParameter(name, str) for name in ("team", "cluster", "pool", "class")),
]


class UsageView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="usage", responses=OpenApiTypes.OBJECT, parameters=_QUERY)
    def get(self, request: Request) -> Response:
        """Return GPU time of the teams that you may see, the queue, and statistics of ended jobs."""
        asked = dashboard.asked_of(self.actor, self.org, request.query_params)
        return Response(usage_dict(asked))


class FleetUsageView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ}

    @extend_schema(
        operation_id="fleet_usage",
        responses=OpenApiTypes.OBJECT,
        parameters=[*_QUERY, OpenApiParameter("org", str)],
    )
    def get(self, request: Request) -> Response:
        """Return GPU time of the installation, with its capacity. For operators."""
        asked = dashboard.asked_of(self.actor, None, request.query_params)
        return Response(usage_dict(asked) | power_dict(asked) | waste_dict(asked))


class WasteView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="waste", responses=OpenApiTypes.OBJECT, parameters=_QUERY)
    def get(self, request: Request) -> Response:
        """Return where GPU time went, and the jobs that wasted most, with advice."""
        asked = dashboard.asked_of(self.actor, self.org, request.query_params)
        return Response(waste_dict(asked))


def usage_dict(asked: dashboard.DashboardQuery) -> dict[str, Any]:
    """Return GPU time, queue and statistics; hours are GPU-hours."""
    times = dashboard.gpu_times(asked)
    by = "org" if asked.org is None else "team"
    return {
        "first": asked.first,
        "last": asked.last,
        "times": times.times,
        "gpus": times.curves,
        "hours": {
            name: round(n / HOUR_MS, 3) for name, n in times.totals.items() if name != "energy"
        },
        f"{by}s": [
            {
                "slug": row["slug"],
                "name": row["label"],
                "allocated_hours": round(row["allocated"] / HOUR_MS, 3),
                "used_hours": round(row["used"] / HOUR_MS, 3),
                "wasted_hours": round(row["waste"] / HOUR_MS, 3),
            }
            for row in dashboard.groups_of(asked, by)
        ],
        "queue": dashboard.queue_of(asked),
        "jobs": dashboard.facts_of(asked),
    }


def power_dict(asked: dashboard.DashboardQuery) -> dict[str, Any]:
    """Return the power of measured GPUs in watts, as `times` of the usage, and energy; of the fleet."""
    if asked.org is not None:
        return {}
    times = dashboard.gpu_times(asked)
    watts, at = dashboard.power_now(asked)
    return {
        "power": {
            "watts": times.power,
            "now_watts": watts,
            "at": at,
            "energy_kwh": round(times.totals["energy"] / JOULES, 3),
        }
    }


def waste_dict(asked: dashboard.DashboardQuery) -> dict[str, Any]:
    prices = dashboard.prices_for(asked)

    def text(cost: Any) -> str | None:
        return None if cost is None else str(rounded(cost, prices.currency))

    return {
        "currency": prices.currency,
        "buckets": [
            {
                "name": one.name,
                "gpu_ms": one.amount,
                "hours": round(one.hours, 3),
                "share": round(one.share, 4),
                "cost": text(one.cost),
                "is_waste": one.is_waste,
            }
            for one in dashboard.buckets_of(asked, prices)
        ],
        "items": [row | {"cost": text(row["cost"])} for row in dashboard.wasters(asked, prices)],
        "next": None,
        "previous": None,
    }
