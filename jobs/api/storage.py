"""REST: storage use of logs."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import representations, storage
from jobs.api.query import limit_of
from jobs.lists import JOBS
from workspaces.api.base import OrgView
from workspaces.api.views import items


class KeptLogsSerializer(serializers.Serializer):  # type: ignore[type-arg]
    number = serializers.IntegerField()
    name = serializers.CharField()
    team = serializers.CharField()
    owner = serializers.DictField()
    state = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)
    page = serializers.CharField()
    bytes = serializers.IntegerField(help_text="of its sealed logs, as storage limits count them")


class StorageView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="storage_list",
        responses=KeptLogsSerializer(many=True),
        parameters=[
            OpenApiParameter("team", str, description="Team slugs separated by commas."),
            OpenApiParameter("owner", str, description="An e-mail, or `me`."),
            OpenApiParameter("limit", int, description="1 to 200; default 50."),
        ],
    )
    def get(self, request: Request) -> Response:
        """List the visible jobs with the largest logs. A log counts within a minute of its end."""
        params = request.query_params
        rows = JOBS.narrowed(self.actor, {name: params.get(name, "") for name in ("team", "owner")})
        return items(
            [
                _row(representations.job_row(job), size)
                for size, job in storage.largest(rows, limit_of(params.get("limit")))
            ]
        )


def _row(job: dict[str, object], size: int) -> dict[str, object]:
    return {
        name: job[name]
        for name in ("number", "name", "team", "owner", "state", "finished_at", "page")
    } | {"bytes": size}
