"""REST: the lineage of datasets, checkpoints, jobs, runs and models."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from experiments.lineage import DEEPEST, DEPTH, Lineage, find_key, lineage_of
from experiments.lineage.nodes import KINDS
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.api.base import OrgView


class LineageNodeSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField(help_text="As `of` takes it, except of data and hidden nodes.")
    kind = serializers.ChoiceField(choices=list(KINDS))
    title = serializers.CharField()
    detail = serializers.CharField()
    page = serializers.CharField()
    state = serializers.CharField(help_text="Of a job or run.")
    created_at = serializers.DateTimeField(allow_null=True)
    level = serializers.IntegerField(help_text="Distance from `of`; negative before it.")
    count = serializers.IntegerField(help_text="How many a hidden node stands for.")
    is_deleted = serializers.BooleanField(help_text="In the trash.")


class LineageLinkSerializer(serializers.Serializer):  # type: ignore[type-arg]
    source = serializers.CharField()
    target = serializers.CharField()
    label = serializers.CharField()


class LineageSerializer(serializers.Serializer):  # type: ignore[type-arg]
    of = serializers.CharField()
    depth = serializers.IntegerField()
    nodes = LineageNodeSerializer(many=True)
    links = LineageLinkSerializer(many=True)
    hidden = serializers.IntegerField(help_text="Nodes that you may not see.")
    is_cut = serializers.BooleanField(help_text="It goes on beyond `depth` or the most nodes.")


class LineageView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "of",
                str,
                required=True,
                description="`dataset:NAME@REVISION`, `checkpoint:NAME@REVISION`, `version:ID`, "
                "`job:NUMBER`, `run:ID`, `model:TEAM/NAME@VERSION` or `model:ID`.",
            ),
            OpenApiParameter(
                "depth", int, description=f"Steps each way, 1 to {DEEPEST}; default {DEPTH}."
            ),
        ],
        responses=LineageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Get what something was made from and what was made from it, at most 1,000 nodes."""
        key = find_key(self.actor, request.query_params.get("of", ""))
        depth = _depth(request.query_params.get("depth", str(DEPTH)))
        found = lineage_of(self.actor, self.org.slug, key, depth=depth)
        return Response(LineageSerializer(_as_dict(found)).data)


def _as_dict(found: Lineage) -> dict[str, object]:
    return {
        "of": found.of,
        "depth": found.depth,
        "nodes": [
            {
                "id": node.id,
                "kind": node.kind,
                "title": node.title,
                "detail": node.detail,
                "page": node.page,
                "state": node.state,
                "created_at": node.at,
                "level": node.level,
                "count": node.count,
                "is_deleted": node.is_deleted,
            }
            for node in found.nodes
        ],
        "links": [link._asdict() for link in found.links],
        "hidden": found.hidden,
        "is_cut": found.is_cut,
    }


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and 1 <= int(text) <= DEEPEST):
        raise InvalidInput.at("depth", Message("must be a number from 1 to {n}", n=DEEPEST))
    return int(text)
