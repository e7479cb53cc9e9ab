"""REST: imports of files from elsewhere."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from datasets import selectors, services
from datasets.api import serializers as s
from datasets.api.views import KindView
from datasets.models import Import
from datasets.representations import DatasetImportShape, import_row
from portal.core.keyset import Order, page_of
from portal.core.shapes import PageShape
from workspaces.api.base import idempotent
from workspaces.api.views import read

PAGE = 50


class ImportsView(KindView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(parameters=[OpenApiParameter("cursor", str)])
    def get(self, request: Request, repository: str) -> PageShape[DatasetImportShape]:
        """List the imports, the last one first."""
        page = page_of(
            selectors.imports_of(self.repository(repository)),
            Order("id", is_descending=True),
            limit=PAGE,
            cursor=request.query_params.get("cursor", ""),
        )
        rows = [import_row(row) for row in page.items]
        return {"items": rows, "next": page.next, "previous": page.previous}

    @extend_schema(request=s.NewDatasetImportSerializer, responses={201: DatasetImportShape})
    @idempotent
    def post(self, request: Request, repository: str) -> Response:
        """Fetch files from S3, HTTP(S), another Hub or a cluster's directory, and commit them."""
        row = self.repository(repository)
        body = read(s.NewDatasetImportSerializer, request)
        options = {name: body.pop(name) for name in ("endpoint", "region")}
        made = services.start_import(
            actor=self.actor,
            repository=row,
            source="\n".join(body.pop("source")),
            options=options,
            **body,
        )
        return Response(import_row(made), status=status.HTTP_201_CREATED)


class _OneImportView(KindView):
    def imported(self, repository: str, imported: UUID) -> Import:
        return services.find_import(self.repository(repository), imported)


class ImportView(_OneImportView):
    permissions = {"GET": None}

    def get(self, request: Request, repository: str, imported: UUID) -> DatasetImportShape:
        """Get an import with its progress."""
        return import_row(self.imported(repository, imported))


class CancelImportView(_OneImportView):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, repository: str, imported: UUID) -> DatasetImportShape:
        """Cancel it. What it has fetched is kept for a day, so that it can be resumed."""
        row = self.imported(repository, imported)
        return import_row(services.cancel_import(actor=self.actor, imported=row))


class ResumeImportView(_OneImportView):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, repository: str, imported: UUID) -> DatasetImportShape:
        """Continue a failed or canceled import; what was stored is not fetched again."""
        row = self.imported(repository, imported)
        return import_row(services.resume_import(actor=self.actor, imported=row))
