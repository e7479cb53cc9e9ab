"""REST: rules for idle GPUs of pools, and jobs that their owners keep."""

from __future__ import annotations

from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from clusters.pools import find_pool, pools_visible_to
from jobs import selectors
from jobs.models import IdleRule
from jobs.utilization import idle_rules
from jobs.utilization.idle_rules import IdleFindingShape, IdleRuleShape
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.core.shapes import PageShape, Time, whole_page
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.views import read


class KeepSerializer(s.Serializer[Any]):
    hours = s.FloatField(help_text=f"At most {idle_rules.MOST_KEPT:g}.")


class IdleRuleSerializer(s.Serializer[Any]):
    is_enabled = s.BooleanField(required=False)
    metric = s.ChoiceField(
        IdleRule.Metric.values,
        required=False,
        help_text="auto: SM activity if known, else power with `watts`, else utilization. "
        "ports: requests.",
    )
    threshold = s.IntegerField(required=False, help_text="Percent, of SM activity or utilization.")
    watts = s.IntegerField(required=False, allow_null=True, help_text="Per GPU, for power.")
    window = s.IntegerField(required=False, help_text="Minutes below the threshold.")
    action = s.ChoiceField(IdleRule.Action.values, required=False)
    grace = s.IntegerField(required=False, help_text="Minutes from the warning to the action.")
    exempt = s.ListField(
        child=s.CharField(max_length=120), required=False, help_text="Labels: kind=session."
    )
    spares_exec = s.BooleanField(
        required=False, help_text="Leave jobs alone in which somebody ran a command."
    )
    spares_ports = s.BooleanField(
        required=False, help_text="Leave jobs alone whose ports were used."
    )


class KeptShape(TypedDict):
    number: int
    keep_until: Time


class KeepView(OrgView):
    permissions = {"POST": None}

    @extend_schema(operation_id="orgs_jobs_keep", request=KeepSerializer)
    def post(self, request: Request, job: str) -> KeptShape:
        """Keep a job from the rule for idle GPUs for some hours."""
        row = selectors.find_job(self.actor, job)
        hours = read(KeepSerializer, request)["hours"]
        until = idle_rules.keep_job(actor=self.actor, job=row, hours=hours)
        return {"number": row.number, "keep_until": until}


class IdleRuleView(OrgView):
    permissions = {"GET": P.NODES_READ, "PUT": P.CLUSTERS_WRITE, "DELETE": P.CLUSTERS_WRITE}

    @extend_schema(operation_id="pools_idle_rule_get")
    def get(self, request: Request, pool: str) -> IdleRuleShape:
        """Return the rule for idle GPUs of a pool. Raises 404 if it has none."""
        names = {row.name for row in pools_visible_to(self.actor)}
        rule = IdleRule.objects.filter(pool__name=pool).select_related("pool").first()
        if rule is None or pool not in names:
            raise NotFound(Message("The pool {name} has no rule for idle GPUs.", name=pool[:80]))
        return idle_rules.rule_row(rule)

    @extend_schema(operation_id="pools_idle_rule_set", request=IdleRuleSerializer)
    def put(self, request: Request, pool: str) -> IdleRuleShape:
        """Create or change the rule of a pool; omitted fields stay."""
        given = read(IdleRuleSerializer, request)
        rule = idle_rules.set_idle_rule(actor=self.actor, pool=find_pool(pool), **given)
        return idle_rules.rule_row(rule)

    @extend_schema(operation_id="pools_idle_rule_delete", responses={204: None})
    def delete(self, request: Request, pool: str) -> Response:
        """Delete the rule of a pool."""
        idle_rules.delete_idle_rule(actor=self.actor, pool=find_pool(pool))
        return Response(status=status.HTTP_204_NO_CONTENT)


class IdleJobsView(OrgView):
    permissions = {"GET": P.CLUSTERS_READ}

    @extend_schema(operation_id="pools_idle_jobs_list")
    def get(self, request: Request, pool: str) -> PageShape[IdleFindingShape]:
        """List the jobs that the rule finds idle now, without doing anything."""
        return whole_page(idle_rules.would_stop(self.actor, find_pool(pool)))
