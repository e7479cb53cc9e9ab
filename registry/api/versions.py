"""REST: versions, their files, approval, stage and promotion."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.api.schema import FILE
from portal.core.keyset import Order, page_of
from portal.web.transfers import Download, announced_size, body_chunks, send_file, stored_file
from registry import selectors, services
from registry.api import serializers as s
from registry.api.views import ModelViewBase, act_on_approval
from registry.models import ModelFile
from registry.representations import file_rows, version_detail, version_rows
from registry.services.versions import PENDING, About
from workspaces.api.base import idempotent
from workspaces.api.views import items, read

PAGE = 100


class VersionsView(ModelViewBase):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        operation_id="orgs_models_versions_list",
        parameters=[OpenApiParameter("cursor", str)],
        responses=s.VersionSerializer(many=True),
    )
    def get(self, request: Request, team: str, model: str) -> Response:
        """List the versions of a model, the last one first."""
        row = self.model(team, model)
        order = Order("version", is_descending=True)
        cursor = request.query_params.get("cursor", "")
        page = page_of(selectors.versions_of(row), order, limit=PAGE, cursor=cursor)
        for version in page.items:
            version.model = row
        return Response(
            {"items": version_rows(page.items), "next": page.next, "previous": page.previous}
        )

    @extend_schema(request=s.NewVersionSerializer, responses={201: s.VersionDetailSerializer})
    @idempotent
    def post(self, request: Request, team: str, model: str) -> Response:
        """Register a version from a run or logged model, or start an upload.

        Put the files of an upload, then finish it.
        """
        row = self.model(team, model)
        about = About(**read(s.NewVersionSerializer, request))
        create = services.create_version if about.source else services.start_upload
        version = create(actor=self.actor, model=row, about=about)
        return Response(version_detail(version), status=status.HTTP_201_CREATED)


class VersionView(ModelViewBase):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    @extend_schema(responses=s.VersionDetailSerializer)
    def get(self, request: Request, team: str, model: str, version: str) -> Response:
        """Get a version by its number, by an alias, or the last one as `latest`."""
        return Response(version_detail(self.version(team, model, version)))

    @extend_schema(request=s.VersionChangeSerializer, responses=s.VersionDetailSerializer)
    def patch(self, request: Request, team: str, model: str, version: str) -> Response:
        """Change description and tags; of an approved version, only approvers may."""
        row = self.version(team, model, version)
        changes = read(s.VersionChangeSerializer, request)
        return Response(
            version_detail(services.update_version(actor=self.actor, version=row, **changes))
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, team: str, model: str, version: str) -> Response:
        """Delete a version permanently, or discard an upload."""
        row = self.version(team, model, version)
        if row.status == PENDING:
            services.discard_upload(actor=self.actor, version=row)
        else:
            services.delete_version(actor=self.actor, version=row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FinishView(ModelViewBase):
    permissions = {"POST": None}

    @extend_schema(request=None, responses=s.VersionDetailSerializer)
    def post(self, request: Request, team: str, model: str, version: str) -> Response:
        """Finish an upload: its files are inspected, and never change again."""
        row = self.version(team, model, version)
        return Response(version_detail(services.finish_upload(actor=self.actor, version=row)))


class FilesView(ModelViewBase):
    permissions = {"GET": None}

    @extend_schema(responses=s.FileSerializer(many=True))
    def get(self, request: Request, team: str, model: str, version: str) -> Response:
        """List the files of a version with sizes in bytes, SHA-256, and facts of their headers."""
        row = self.version(team, model, version)
        return items(file_rows(row, selectors.files_of(row)))


class FileView(ModelViewBase):
    permissions = {"GET": None, "PUT": None}

    @extend_schema(responses=FILE)
    def get(
        self, request: Request, team: str, model: str, version: str, path: str
    ) -> HttpResponse | StreamingHttpResponse:
        """Download a file, or a range of its bytes."""
        row = self.version(team, model, version)
        return send_file(request._request, download_of(selectors.find_file(row, path)))

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={201: s.FileSerializer},
    )
    def put(self, request: Request, team: str, model: str, version: str, path: str) -> Response:
        """Store the body as a file of an upload, replacing the one at this path."""
        row = self.version(team, model, version)
        http = request._request
        stored = services.put_file(
            actor=self.actor,
            version=row,
            path=path,
            chunks=body_chunks(http),
            size=announced_size(http),
        )
        return Response(file_rows(row, [stored])[0], status=status.HTTP_201_CREATED)


class ApprovalView(ModelViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.ApprovalSerializer, responses=s.VersionDetailSerializer)
    def post(self, request: Request, team: str, model: str, version: str) -> Response:
        """Request, withdraw, approve or reject, or acknowledge that pickles run code."""
        row = self.version(team, model, version)
        body: dict[str, Any] = read(s.ApprovalSerializer, request)
        return Response(version_detail(act_on_approval(self.actor, row, **body)))


class StageView(ModelViewBase):
    permissions = {"PUT": None}

    @extend_schema(request=s.StageSerializer, responses=s.VersionDetailSerializer)
    def put(self, request: Request, team: str, model: str, version: str) -> Response:
        """Set the stage, for clients that have no aliases."""
        row = self.version(team, model, version)
        body = read(s.StageSerializer, request)
        return Response(version_detail(services.set_stage(actor=self.actor, version=row, **body)))


class PromotionView(ModelViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.PromotionSerializer, responses={201: s.VersionDetailSerializer})
    @idempotent
    def post(self, request: Request, team: str, model: str, version: str) -> Response:
        """Create a version of another team's model with the same files."""
        row = self.version(team, model, version)
        body = read(s.PromotionSerializer, request)
        made = services.promote_version(
            actor=self.actor, version=row, team=self.team(body["team"]), name=body["name"]
        )
        return Response(version_detail(made), status=status.HTTP_201_CREATED)


def download_of(file: ModelFile) -> Download:
    """Return the file as `portal.web.transfers` sends it."""
    return stored_file(file.org_id, name=file.path, size=file.size, sha256=file.sha256)
