"""REST: files of a run."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from experiments import artifacts
from experiments.models import Artifact
from experiments.selectors import find_run
from portal.api.schema import FILE
from portal.web.transfers import Download, announced_size, body_chunks, send_file, stored_file
from workspaces.api.base import OrgView


class ArtifactsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="runs_artifacts_list",
        parameters=[OpenApiParameter("path", str, description="A folder; default: the top.")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, run: str) -> Response:
        """List the files and folders directly in a folder of the run, with sizes in bytes.

        The files of each logged model are in a folder with the name of the model.
        """
        row = find_run(self.actor, run)
        folder = request.query_params.get("path", "")
        return Response(
            {
                "path": folder,
                "bytes": sum(file.size for file in artifacts.files_of(row).values()),
                "entries": [
                    represent_entry(entry)
                    for entry in artifacts.listing(row, folder, with_models=True)
                ],
            }
        )


class ArtifactView(OrgView):
    permissions = {"GET": None, "PUT": None, "DELETE": None}

    @extend_schema(
        parameters=[OpenApiParameter("preview", bool, description="Show it in the browser.")],
        responses=FILE,
    )
    def get(
        self, request: Request, run: str, path: str
    ) -> HttpResponse | StreamingHttpResponse | Response:
        """Download a file, or a range of its bytes."""
        found = artifacts.find(find_run(self.actor, run), path, with_models=True)
        is_shown = request.query_params.get("preview", "") in {"1", "true"}
        return send_file(request._request, download_of(found, is_shown=is_shown))

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={201: OpenApiTypes.OBJECT},
    )
    def put(self, request: Request, run: str, path: str) -> Response:
        """Store the body as a file, replacing the one at this path."""
        row = find_run(self.actor, run)
        http = request._request
        stored = artifacts.put(self.actor, row, path, body_chunks(http), size=announced_size(http))
        return Response(represent_artifact(stored), status=status.HTTP_201_CREATED)

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    def delete(self, request: Request, run: str, path: str) -> Response:
        """Delete a file, or a folder with everything in it."""
        number = artifacts.delete_path(self.actor, find_run(self.actor, run), path)
        return Response({"deleted": number})


def download_of(artifact: Artifact, *, is_shown: bool = False) -> Download:
    """Return the file as `portal.web.transfers` sends it."""
    return stored_file(
        artifact.org_id,
        name=artifact.path,
        size=artifact.size,
        sha256=artifact.sha256,
        is_shown=is_shown,
    )


def represent_artifact(row: Artifact) -> dict[str, Any]:
    """Return a file for REST."""
    return {
        "path": row.path,
        "bytes": row.size,
        "sha256": row.sha256,
        "created_at": row.created_at,
    }


def represent_entry(entry: artifacts.ArtifactEntry) -> dict[str, Any]:
    """Return an entry of a listing for REST."""
    about = represent_artifact(entry.artifact) if entry.artifact else {}
    return {
        **about,
        "path": entry.path,
        "is_folder": entry.is_folder,
        "bytes": entry.size,
        "files": entry.files,
    }
