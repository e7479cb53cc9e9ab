"""REST: preview of changed limits."""

from __future__ import annotations

from typing import Annotated, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from jobs.quotas.preview import MeterLine, TeamJobs, preview
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.quotas import SetQuotasSerializer
from workspaces.api.views import read
from workspaces.quotas.set_limits import LimitChange


class QuotaLineShape(TypedDict):
    whose: str
    resource: str
    before: str
    after: str


class QuotaGroupShape(TypedDict):
    team: str
    count: int
    numbers: list[int]


class QuotaPreviewShape(TypedDict):
    lines: list[QuotaLineShape]
    stopped: Annotated[
        list[QuotaGroupShape], "waiting jobs that the limits would no longer let start"
    ]
    freed: Annotated[list[QuotaGroupShape], "waiting jobs that the limits would newly let start"]
    sentences: list[str]


class QuotaPreviewView(OrgView):
    permissions = {"POST": P.QUOTAS_WRITE}

    @extend_schema(request=SetQuotasSerializer)
    def post(self, request: Request) -> QuotaPreviewShape:
        """Preview the effect of these changes on pending jobs. Nothing is stored."""
        changes = [
            LimitChange(**change) for change in read(SetQuotasSerializer, request)["changes"]
        ]
        found = preview(actor=self.actor, org=self.org, changes=changes)
        return {
            "lines": [_line(line) for line in found.lines],
            "stopped": [_group(group) for group in found.stopped],
            "freed": [_group(group) for group in found.freed],
            "sentences": found.sentences,
        }


def _line(line: MeterLine) -> QuotaLineShape:
    return {
        "whose": line.whose,
        "resource": line.resource,
        "before": line.before,
        "after": line.after,
    }


def _group(group: TeamJobs) -> QuotaGroupShape:
    return {"team": group.team, "count": group.count, "numbers": group.numbers}
