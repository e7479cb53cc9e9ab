"""REST: bytes of files, in one request or in pieces by the tus protocol (https://tus.io)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from datasets import selectors, services
from datasets.access import check_may_write
from datasets.api import serializers as s
from datasets.api.views import KindView
from datasets.models import Repository, Upload
from datasets.representations import ContentShape
from portal.blobs.files import StoredFile
from portal.core.errors import InvalidInput, PortalError
from portal.core.messages import Message
from portal.core.shapes import PageShape, whole_page
from portal.web.transfers import announced_size, body_chunks, first_line_of
from workspaces.api.views import read

TUS = "1.0.0"
PIECE = "application/offset+octet-stream"
_BYTES = {"application/octet-stream": OpenApiTypes.BINARY}
_SHA256 = OpenApiParameter("sha256", str, description="What the file must have.")


class UnsupportedMediaType(PortalError):
    code, http = "unsupported_media_type", 415


class PreconditionFailed(PortalError):
    code, http = "unsupported_version", 412


class ContentsView(KindView):
    permissions = {"POST": None, "PUT": None}

    @extend_schema(request=s.DigestsSerializer)
    def post(self, request: Request, repository: str) -> PageShape[ContentShape]:
        """Say which of these files it has already, so that only new ones are sent."""
        row = self.repository(repository)
        check_may_write(self.actor, row)
        digests = read(s.DigestsSerializer, request)["sha256"]
        found = selectors.contents_in(row, digests)
        return whole_page([{"sha256": sha256, "bytes": size} for sha256, size in found.items()])

    @extend_schema(request=_BYTES, parameters=[_SHA256], responses={201: ContentShape})
    def put(self, request: Request, repository: str) -> Response:
        """Store the body as a file for a later commit."""
        http = request._request
        stored = services.put_file(
            actor=self.actor,
            repository=self.repository(repository),
            chunks=body_chunks(http),
            size=announced_size(http),
            sha256=request.query_params.get("sha256", "")
            or request.headers.get("X-Content-Sha256", ""),
        )
        row = {"sha256": stored.sha256, "bytes": stored.size}
        return Response(row, status=status.HTTP_201_CREATED)


class BatchView(KindView):
    """Many small files in one request, whose bytes follow a line that names them."""

    permissions = {"PUT": None}

    @extend_schema(request=_BYTES, responses={201: PageShape[ContentShape]})
    def put(self, request: Request, repository: str) -> Response:
        """Store up to 1,000 small files for a later commit, all or none.

        The body is a line of JSON, `{"files": [{"sha256": …, "bytes": …}, …]}`, and then the bytes
        of these files one after the other: at most 1 MiB each and 32 MiB together.
        """
        row = self.repository(repository)
        check_may_write(self.actor, row)
        files, chunks = files_in(request, s.SmallFilesSerializer)
        announced = [StoredFile(file["sha256"], file["bytes"]) for file in files]
        stored = services.put_files(
            actor=self.actor,
            repository=row,
            contents=services.split_files(announced, chunks),
            sizes=[file.size for file in announced],
        )
        rows = [{"sha256": file.sha256, "bytes": file.size} for file in stored]
        return Response(whole_page(rows), status=status.HTTP_201_CREATED)


def files_in(
    request: Request, serializer: type[Serializer[Any]]
) -> tuple[list[dict[str, Any]], Iterator[bytes]]:
    """Return the files that the first line of a body names, and the bytes after it."""
    line, chunks = first_line_of(body_chunks(request._request))
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            Message("The first line of the body is not JSON."), code="not_json"
        ) from error
    body = serializer(data=data)
    body.is_valid(raise_exception=True)
    return body.validated_data["files"], chunks


class TusMixin:
    """Headers of the views of tus 1.0: core, creation and termination."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)  # type: ignore[misc]
        if request.headers.get("Tus-Resumable", TUS) != TUS and request.method != "OPTIONS":
            raise PreconditionFailed(Message("This is tus {version}.", version=TUS))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]
        response["Tus-Resumable"] = TUS
        response["Tus-Version"] = TUS
        response["Cache-Control"] = "no-store"
        return response

    @extend_schema(exclude=True)
    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        headers = {
            "Tus-Extension": "creation,termination",
            "Tus-Max-Size": str(settings.MUSTER_FILE_LIMIT),
        }
        return Response(status=status.HTTP_204_NO_CONTENT, headers=headers)


class TusView(TusMixin, KindView):
    """Base of the views of uploads to a repository.

    The SHA-256 of the whole file may be announced as `sha256` of Upload-Metadata.
    """

    def writable(self, repository: str) -> Repository:
        """Return a repository that the actor may write to. Raises NotFound, NotPermitted."""
        row = self.repository(repository)
        check_may_write(self.actor, row)
        return row

    def upload(self, repository: str, upload: UUID) -> Upload:
        return services.find_upload(self.actor, self.writable(repository), upload)


class UploadsView(TusView):
    permissions = {"POST": None}

    @extend_schema(
        request=None,
        parameters=[
            OpenApiParameter("Upload-Length", int, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("Upload-Metadata", str, OpenApiParameter.HEADER),
        ],
        responses={201: None},
    )
    def post(self, request: Request, repository: str) -> Response:
        """Start a file that comes in pieces; Location is where to send them (tus 1.0).

        Upload-Metadata may have `filename` and `sha256`, which the whole file must have.
        """
        row = self.writable(repository)
        metadata = metadata_of(request.headers.get("Upload-Metadata", ""))
        upload = services.start_upload(
            actor=self.actor,
            repository=row,
            size=number_in(request, "Upload-Length"),
            path=metadata.get("filename", ""),
            sha256=metadata.get("sha256", ""),
        )
        kwargs = {"org": self.org.slug, "repository": row.name, "upload": upload.id}
        where = reverse(f"api-{self.kind}-upload", kwargs=kwargs)
        headers = {"Location": request.build_absolute_uri(where), **_state(upload)}
        return Response(status=status.HTTP_201_CREATED, headers=headers)


class UploadView(TusView):
    permissions = {"PATCH": None, "DELETE": None}

    @extend_schema(exclude=True)
    def head(self, request: Request, repository: str, upload: UUID) -> Response:
        """Answer how many bytes came, and store the file if a failure came after the last ones."""
        row = self.upload(repository, upload)
        if services.received(row) == row.size:
            row = services.append(actor=self.actor, upload=row, offset=row.size, chunks=[])
        headers = {"Upload-Length": str(row.size), **_state(row)}
        return Response(status=status.HTTP_200_OK, headers=headers)

    @extend_schema(
        request={PIECE: OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("Upload-Offset", int, OpenApiParameter.HEADER, required=True)],
        responses={204: None},
    )
    def patch(self, request: Request, repository: str, upload: UUID) -> Response:
        """Append bytes. With the last ones, Upload-Sha256 is the file's SHA-256 (tus 1.0)."""
        row = self.upload(repository, upload)
        offset = number_in(request, "Upload-Offset")
        if request.content_type != PIECE:
            raise UnsupportedMediaType(Message("Send the bytes as {kind}.", kind=PIECE))
        row = services.append(
            actor=self.actor, upload=row, offset=offset, chunks=body_chunks(request._request)
        )
        return Response(status=status.HTTP_204_NO_CONTENT, headers=_state(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository: str, upload: UUID) -> Response:
        """Discard an upload (tus 1.0)."""
        services.discard_upload(actor=self.actor, upload=self.upload(repository, upload))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _state(upload: Upload) -> dict[str, str]:
    state = {"Upload-Offset": str(services.received(upload))}
    return state | ({"Upload-Sha256": upload.sha256} if upload.sha256 else {})


def number_in(request: Request, header: str) -> int:
    """Return the number of bytes in a header. Raises InvalidInput."""
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidInput.at(header, Message("must be a number of bytes"))
    return int(text)


def metadata_of(text: str) -> dict[str, str]:
    """Return the pairs of Upload-Metadata: a key, and its value in Base64. Raises InvalidInput."""
    found = {}
    for pair in filter(None, text.split(",")):
        key, _space, value = pair.strip().partition(" ")
        try:
            found[key] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise InvalidInput.at(
                "Upload-Metadata", Message("must be Base64", context="error of a field")
            ) from error
    return found
