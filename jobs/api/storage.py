"""REST: storage use of logs, and of everything."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import representations, storage
from jobs.api.query import limit_of
from jobs.lists import JOBS
from workspaces.api.base import OrgView
from workspaces.api.views import items
from workspaces.quotas import space


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


class UseSerializer(serializers.Serializer):  # type: ignore[type-arg]
    kind = serializers.CharField()
    title = serializers.CharField()
    bytes = serializers.IntegerField()
    team = serializers.CharField()
    owner = serializers.CharField()
    page = serializers.CharField()
    detail = serializers.CharField()
    reason = serializers.CharField(help_text="Why it may be unneeded.")
    step = serializers.CharField(help_text="What to do on `page`.")


class TotalSerializer(serializers.Serializer):  # type: ignore[type-arg]
    kind = serializers.CharField()
    count = serializers.IntegerField()
    bytes = serializers.IntegerField()


class StorageUseSerializer(serializers.Serializer):  # type: ignore[type-arg]
    totals = TotalSerializer(many=True)
    largest = UseSerializer(many=True)
    unused = UseSerializer(many=True)


class UseView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        responses=StorageUseSerializer,
        parameters=[
            OpenApiParameter("team", str, description="The slug of a team."),
            OpenApiParameter("limit", int, description="1 to 200; default 50."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Say what takes the space, and what nothing refers to, of what you may see."""
        params = request.query_params
        team = self.team(params["team"]) if params.get("team") else None
        asked = space.Asked(self.actor, self.org.slug, team.id if team else None)
        most = limit_of(params.get("limit"))
        return Response(
            {
                "totals": [
                    {"kind": source.kind, "count": total.number, "bytes": total.bytes}
                    for source, total in space.totals(asked)
                ],
                "largest": [_use(*one) for one in space.largest(asked, most)],
                "unused": [_use(*one) for one in space.unused(asked, most)],
            }
        )


def _use(source: space.Source, use: space.Use) -> dict[str, object]:
    texts = {name: str(getattr(use, name)) for name in ("detail", "reason", "step")}
    return {"kind": source.kind, **asdict(use), **texts}


def _row(job: dict[str, object], size: int) -> dict[str, object]:
    return {
        name: job[name]
        for name in ("number", "name", "team", "owner", "state", "finished_at", "page")
    } | {"bytes": size}
