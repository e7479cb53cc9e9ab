"""REST endpoints for GPU time and idle GPUs."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from jobs.utilization.idle import IdleJobShape, idle_jobs
from jobs.utilization.selectors import GpuTimeShape, gpu_time_of
from portal.core.errors import InvalidInput
from portal.core.shapes import PageShape, whole_page
from workspaces.api.base import OrgView

HOURS = {"24": 24, "168": 168}


class GpuTimeView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="gpu_time",
        parameters=[OpenApiParameter("hours", int, description="24 (default) or 168.")],
    )
    def get(self, request: Request) -> GpuTimeShape:
        """Return allocated, used and total GPUs over time, by team.

        Covers the teams whose jobs you may read. `times` are Unix seconds; null is unknown.
        """
        hours = HOURS.get(request.query_params.get("hours", "24"))
        if hours is None:
            raise InvalidInput.at("hours", f"must be one of {', '.join(HOURS)}")
        return gpu_time_of(self.actor, hours)


class IdleGpusView(OrgView):
    permissions = {"GET": None}

    @extend_schema(operation_id="idle_gpus_list")
    def get(self, request: Request) -> PageShape[IdleJobShape]:
        """List running jobs whose GPUs have been below 10% for 30 minutes or longer.

        `hours` is the number of idle GPUs times the hours for which they have been idle.
        """
        return whole_page(idle_jobs(self.actor))
