"""REST: compare jobs."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from jobs import comparison
from portal.core.errors import InvalidInput
from workspaces.api.base import OrgView


class CompareView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="jobs_compare",
        parameters=[
            OpenApiParameter(
                "jobs", str, required=True, description="2 to 10 numbers or ids with commas."
            )
        ],
    )
    def get(self, request: Request) -> comparison.ComparisonShape:
        """Compare 2 to 10 jobs: configuration that differs, summaries of metrics, the best jobs.

        A job that the caller may not see is not found. Durations are in seconds, GPU utilization is
        0 to 1; `best` is the minimum of losses, errors and times, and the maximum of other metrics.
        """
        jobs = comparison.chosen_jobs(self.actor, request.query_params.getlist("jobs"))
        if len(jobs) < comparison.LEAST:
            raise InvalidInput.at("jobs", "choose 2 to 10 jobs, such as ?jobs=12,15")
        return comparison.comparison([comparison.run_of_job(job) for job in jobs])
