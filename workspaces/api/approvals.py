"""REST: requests of every kind."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.base import OrgView
from workspaces.api.views import items, read
from workspaces.approvals import selectors
from workspaces.approvals.kinds import STEPS, kind_named
from workspaces.approvals.services import comment, decide_request


class ApprovalSerializer(s.Serializer[Any]):
    id = s.UUIDField()
    kind = s.CharField(help_text="What is asked: quota, pool or model.")
    text = s.CharField(help_text="What is asked, in words.")
    path = s.CharField(help_text="The page that shows it.")
    asker = s.CharField()
    reason = s.CharField()
    state = s.CharField(help_text="open, approved, declined, withdrawn, expired or ended.")
    created_at = s.DateTimeField()
    decided_at = s.DateTimeField(allow_null=True)
    decided_by = s.CharField()
    word = s.CharField(help_text="The message of who decided.")
    may = s.ListField(child=s.CharField(), help_text="The steps that you may take now.")


class HistorySerializer(s.Serializer[Any]):
    at = s.DateTimeField()
    who = s.CharField()
    text = s.CharField()
    word = s.CharField()


class ApprovalDetailSerializer(ApprovalSerializer):
    history = HistorySerializer(many=True)


class ApprovalStepSerializer(s.Serializer[Any]):
    do = s.ChoiceField([*STEPS, "comment"])
    word = s.CharField(required=False, default="", allow_blank=True, max_length=5000)


class ApprovalsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(responses=ApprovalSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the open requests of every kind that you made or may decide, oldest first."""
        found = selectors.open_requests(self.actor)
        return items([selectors.approval_row(self.actor, kind, row) for kind, row in found])


class ApprovalView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(responses=ApprovalDetailSerializer)
    def get(self, request: Request, approval_kind: str, ask: UUID) -> Response:
        """Get a request with its history, newest first."""
        return self._answer(approval_kind, ask)

    @extend_schema(request=ApprovalStepSerializer, responses={200: ApprovalDetailSerializer})
    def post(self, request: Request, approval_kind: str, ask: UUID) -> Response:
        """Approve, decline, withdraw or comment a request, and what else its kind has."""
        found, body = kind_named(approval_kind), read(ApprovalStepSerializer, request)
        row = selectors.find_request(self.actor, found, ask)
        if body["do"] == "comment":
            comment(actor=self.actor, kind=found, row=row, text=body["word"])
        else:
            decide_request(actor=self.actor, kind=found, request_id=row.id, **body)
        return self._answer(approval_kind, ask)

    def _answer(self, approval_kind: str, ask: UUID) -> Response:
        found = kind_named(approval_kind)
        row = selectors.find_request(self.actor, found, ask)
        history = selectors.history_of(found, row)
        return Response(
            selectors.approval_row(self.actor, found, row)
            | {"history": [{n: e[n] for n in ("at", "who", "text", "word")} for e in history]}
        )
