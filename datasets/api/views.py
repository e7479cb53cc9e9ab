"""REST: datasets and checkpoints, their shares, retention and trash."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from datasets import selectors, services
from datasets.access import check_may_manage
from datasets.api import serializers as s
from datasets.lists import LISTS, TRASHES, ListedRepositoryShape
from datasets.models import Repository, RepositoryKind, Version
from datasets.representations import (
    DefaultRetentionShape,
    FreedBytesShape,
    PlannedRepositoryShape,
    PlanShape,
    RepositoryDetailShape,
    RepositoryShape,
    ShareShape,
    SpaceShape,
    repository_detail,
    share_rows,
)
from portal.core.errors import NotFound, Unavailable
from portal.core.messages import Message
from portal.core.shapes import PageShape, whole_page
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read


class InsufficientStorage(Unavailable):
    """The disk of the portal is full; nothing was changed."""

    http = 507


class KindView(OrgView):
    """Base of the views. `kind` is set by the route."""

    kind: RepositoryKind = RepositoryKind.DATASET

    def repository(self, name: str) -> Repository:
        return selectors.find_repository(self.actor, self.kind, name)

    def version(self, name: str, revision: str = "") -> Version:
        return selectors.find_version(self.repository(name), revision)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Unavailable) and exc.kind == "disk_full":
            exc = InsufficientStorage(exc.message, code=exc.kind, data=exc.data)
        return super().handle_exception(exc)


class RepositoriesView(KindView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(parameters=LISTS[RepositoryKind.DATASET].parameters())
    def get(self, request: Request) -> PageShape[ListedRepositoryShape]:
        """List what you may read. Keyset pagination."""
        return LISTS[self.kind].answer(self.actor, request.query_params)

    @extend_schema(request=s.NewRepositorySerializer, responses={201: RepositoryDetailShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create one with an empty branch `main`."""
        body = read(s.NewRepositorySerializer, request)
        team = self.team(body.pop("team") or None)
        row = services.create_repository(actor=self.actor, kind=self.kind, team=team, **body)
        return Response(repository_detail(row, self.actor), status=status.HTTP_201_CREATED)


class RepositoryView(KindView):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    def get(self, request: Request, repository: str) -> RepositoryDetailShape:
        """Get one with its rules and shares."""
        return repository_detail(self.repository(repository), self.actor)

    @extend_schema(request=s.RepositoryChangeSerializer)
    def patch(self, request: Request, repository: str) -> RepositoryDetailShape:
        """Change name, description, visibility, default branch, retention or legal hold."""
        row = self.repository(repository)
        changes = read(s.RepositoryChangeSerializer, request)
        row = services.update_repository(actor=self.actor, repository=row, **changes)
        return repository_detail(row, self.actor)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository: str) -> Response:
        """Move it with its versions to the trash."""
        services.delete_repository(actor=self.actor, repository=self.repository(repository))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SharesView(KindView):
    permissions = {"GET": None}

    def get(self, request: Request, repository: str) -> PageShape[ShareShape]:
        """List the teams that it is shared with."""
        return whole_page(share_rows(self.repository(repository)))


class ShareView(KindView):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=s.ShareChangeSerializer)
    def put(self, request: Request, repository: str, with_team: str) -> ShareShape:
        """Let another team read it, or also write."""
        row = self.repository(repository)
        body = read(s.ShareChangeSerializer, request)
        team = self.team(with_team)
        share = services.share_repository(actor=self.actor, repository=row, team=team, **body)
        return {"team": team.slug, "can_write": share.can_write}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository: str, with_team: str) -> Response:
        """Stop sharing with a team."""
        row = self.repository(repository)
        services.unshare_repository(actor=self.actor, repository=row, team=self.team(with_team))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RetentionView(KindView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        parameters=[OpenApiParameter("keep_last", int), OpenApiParameter("keep_days", int)]
    )
    def get(self, request: Request, repository: str) -> PlanShape:
        """Say which versions these rules would delete, by default its own; deletes nothing."""
        row = self.repository(repository)
        return _plan_row(*self._plan(row, request.query_params))

    @extend_schema(request=s.RetentionRulesSerializer)
    def post(self, request: Request, repository: str) -> PlanShape:
        """Delete the versions that these rules do not keep, once."""
        row = self.repository(repository)
        check_may_manage(self.actor, row)
        rules, plan = self._plan(row, request.data)
        freed = services.delete_versions(actor=self.actor, repository=row, versions=plan.versions)
        return {**_plan_row(rules, plan), "bytes": freed}

    def _plan(self, row: Repository, given: Any) -> tuple[dict[str, int], Any]:
        body = s.RetentionRulesSerializer(data=given)
        body.is_valid(raise_exception=True)
        rules = selectors.rules_of(row)._asdict()
        if body.validated_data:
            rules = {"keep_last": 0, "keep_days": 0} | body.validated_data
        return rules, services.plan(row, **rules)


class DefaultRetentionView(KindView):
    permissions = {"GET": P.DATASETS_ADMIN, "PUT": P.DATASETS_ADMIN}

    @extend_schema(
        parameters=[OpenApiParameter("keep_last", int), OpenApiParameter("keep_days", int)]
    )
    def get(self, request: Request) -> DefaultRetentionShape:
        """Say what rules would delete of all that have none of their own, by default the saved."""
        body = s.RetentionRulesSerializer(data=request.query_params)
        body.is_valid(raise_exception=True)
        rules = selectors.default_rules(self.org.id, self.kind)._asdict()
        if body.validated_data:
            rules = {"keep_last": 0, "keep_days": 0} | body.validated_data
        return self._planned(rules)

    @extend_schema(request=s.RetentionRulesSerializer)
    def put(self, request: Request) -> DefaultRetentionShape:
        """Set the rules of the organization. What they do not keep is deleted within a day."""
        rules = {"keep_last": 0, "keep_days": 0} | read(s.RetentionRulesSerializer, request)
        services.change_default(actor=self.actor, org_id=self.org.id, kind=self.kind, **rules)
        return self._planned(rules)

    def _planned(self, rules: dict[str, int]) -> DefaultRetentionShape:
        plan = services.plan_default(actor=self.actor, kind=self.kind, **rules)
        rows: list[PlannedRepositoryShape] = [
            {
                "name": row.repository.name,
                "team": row.repository.team.slug,
                "versions": row.versions,
                "bytes": row.bytes,
            }
            for row in plan.rows
        ]
        return {
            "keep_last": rules["keep_last"],
            "keep_days": rules["keep_days"],
            "versions": plan.versions,
            "bytes": plan.bytes,
            "repositories": rows,
            "is_cut": plan.is_cut,
        }


class SpaceView(KindView):
    permissions = {"GET": None, "DELETE": None}

    def get(self, request: Request, repository: str) -> SpaceShape:
        """Say what its bytes are for: current versions, old ones, and what nothing refers to."""
        return cast(SpaceShape, asdict(services.space_of(self.repository(repository))))

    def delete(self, request: Request, repository: str) -> FreedBytesShape:
        """Delete files that no version names and uploads that have not moved for an hour."""
        row = self.repository(repository)
        return {"bytes": services.discard_unused(actor=self.actor, repository=row)}


class TrashView(KindView):
    permissions = {"GET": None}

    @extend_schema(parameters=TRASHES[RepositoryKind.DATASET].parameters())
    def get(self, request: Request) -> PageShape[RepositoryShape]:
        """List the trash, what was deleted last first."""
        return TRASHES[self.kind].answer(self.actor, request.query_params)


class TrashedView(KindView):
    permissions = {"POST": None, "DELETE": None}

    @extend_schema(request=None)
    def post(self, request: Request, trashed: UUID) -> RepositoryDetailShape:
        """Restore it with its versions."""
        row = services.restore_repository(actor=self.actor, repository=self._trashed(trashed))
        return repository_detail(row, self.actor)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, trashed: UUID) -> Response:
        """Delete it permanently, with its versions."""
        services.purge_repository(actor=self.actor, repository=self._trashed(trashed))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _trashed(self, pk: UUID) -> Repository:
        rows = selectors.visible_repositories(self.actor, self.kind, is_deleted=True)
        row = rows.filter(id=pk).first()
        if row is None:
            raise NotFound(Message("This is not in the trash."), code="no_repository")
        return row


def _plan_row(rules: dict[str, int], plan: Any) -> PlanShape:
    return {
        "keep_last": rules["keep_last"],
        "keep_days": rules["keep_days"],
        "versions": [version.number for version in plan.versions],
        "bytes": plan.bytes,
    }
