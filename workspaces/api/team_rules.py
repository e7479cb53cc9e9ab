"""REST: job rules of a team."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.organizations import team_rule_services
from workspaces.organizations.team_rules import TeamRules


class TeamRulesSerializer(serializers.Serializer):  # type: ignore[type-arg]
    max_runtime = serializers.IntegerField(
        required=False, allow_null=True, help_text="maximum time limit in seconds; null: any"
    )
    default_runtime = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="default time limit in seconds; null: max_runtime",
    )
    max_gpus = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="per task, summed over its nodes; null: any",
    )
    images = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        max_length=50,
        help_text="allowed image globs; `none` also allows jobs without an image; empty: any",
    )
    pools = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        max_length=50,
        help_text="allowed pools, or clusters without pools; empty: any",
    )
    default_pool = serializers.CharField(
        required=False, allow_blank=True, max_length=255, help_text="default pool"
    )


class TeamRulesView(OrgView):
    permissions = {"GET": P.TEAMS_READ, "PUT": P.QUOTAS_WRITE}

    @extend_schema(responses=TeamRulesSerializer)
    def get(self, request: Request, team: str) -> Response:
        """Get the rules and defaults for the team's jobs."""
        found = self.team(team)
        return Response(asdict(TeamRules.of(found.job_rules)))

    @extend_schema(request=TeamRulesSerializer, responses=TeamRulesSerializer)
    def put(self, request: Request, team: str) -> Response:
        """Set the given rules, keeping the others. Jobs accepted before are unaffected."""
        return Response(
            asdict(
                team_rule_services.set_team_rules(
                    actor=self.actor, team=self.team(team), **read(TeamRulesSerializer, request)
                )
            )
        )
