"""REST: workspaces, their invitations, files and trash."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from datasets.api.uploads import (
    PIECE,
    TusMixin,
    UnsupportedMediaType,
    files_in,
    metadata_of,
    number_in,
)
from datasets.api.versions import limit_in
from datasets.api.views import InsufficientStorage
from datasets.folders import entries, selectors, services
from datasets.folders.access import check_may_write
from datasets.folders.downloads import download_of
from datasets.folders.lists import FOLDERS, TRASH
from datasets.folders.representations import (
    WorkspaceDetailShape,
    WorkspaceEntryShape,
    WorkspaceInvitationShape,
    WorkspaceShape,
    WorkspaceTreeShape,
    entry_rows,
    folder_detail,
    invitation_row,
)
from datasets.models import FolderUpload, SharedFolder, Visibility
from portal.api.schema import FILE
from portal.core.errors import NotFound, Unavailable
from portal.core.messages import Message
from portal.core.shapes import PageShape
from portal.web.transfers import announced_size, body_chunks, send_file
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read
from workspaces.models import Membership, User

_BYTES = {"application/octet-stream": OpenApiTypes.BINARY}


class _Fields(s.Serializer):  # type: ignore[type-arg]
    description = s.CharField(
        required=False, allow_blank=True, max_length=services.LONGEST_DESCRIPTION
    )
    visibility = s.CharField(required=False, help_text="private, team or organization")
    quota = s.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=services.MOST_BYTES
    )


class NewWorkspaceSerializer(_Fields):
    name = s.CharField(max_length=96)
    team = s.CharField(required=False, default="", allow_blank=True)
    visibility = s.CharField(required=False, default=Visibility.TEAM.value)


class WorkspaceChangeSerializer(_Fields):
    name = s.CharField(max_length=96, required=False)
    seen_at = s.DateTimeField(
        required=False, help_text="`updated_at` as you read it: refused if it was changed since."
    )


class InvitationChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    can_write = s.BooleanField(required=False, default=False)


class _SmallFileSerializer(s.Serializer):  # type: ignore[type-arg]
    path = s.CharField(max_length=4096, trim_whitespace=False)
    bytes = s.IntegerField(min_value=0, max_value=1 << 20)


class WorkspaceFilesSerializer(s.Serializer):  # type: ignore[type-arg]
    files = _SmallFileSerializer(many=True, allow_empty=False, max_length=1_000)


class MoveSerializer(s.Serializer):  # type: ignore[type-arg]
    source = s.CharField(max_length=4096)
    target = s.CharField(max_length=4096)
    replaces = s.BooleanField(required=False, default=False)


class BaseFolderView(OrgView):
    """Base of the views of one workspace."""

    def folder(self, name: str) -> SharedFolder:
        return selectors.find_folder(self.actor, name)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Unavailable) and exc.kind == "disk_full":
            exc = InsufficientStorage(exc.message, code=exc.kind, data=exc.data)
        return super().handle_exception(exc)


class FoldersView(BaseFolderView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(parameters=FOLDERS.parameters())
    def get(self, request: Request) -> PageShape[WorkspaceShape]:
        """List the workspaces that you may read. Keyset pagination."""
        return FOLDERS.answer(self.actor, request.query_params)

    @extend_schema(request=NewWorkspaceSerializer, responses={201: WorkspaceDetailShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an empty workspace."""
        body = read(NewWorkspaceSerializer, request)
        team = self.team(body.pop("team") or None)
        row = services.create_folder(actor=self.actor, team=team, **body)
        return Response(folder_detail(row, self.actor), status=status.HTTP_201_CREATED)


class FolderView(BaseFolderView):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    def get(self, request: Request, workspace: str) -> WorkspaceDetailShape:
        """Get a workspace with its invitations."""
        return folder_detail(self.folder(workspace), self.actor)

    @extend_schema(request=WorkspaceChangeSerializer)
    def patch(self, request: Request, workspace: str) -> WorkspaceDetailShape:
        """Change name, description, visibility or quota."""
        row = self.folder(workspace)
        changes = read(WorkspaceChangeSerializer, request)
        row = services.update_folder(actor=self.actor, folder=row, **changes)
        return folder_detail(row, self.actor)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, workspace: str) -> Response:
        """Move it with its files to the trash."""
        services.delete_folder(actor=self.actor, folder=self.folder(workspace))
        return Response(status=status.HTTP_204_NO_CONTENT)


class FoldersTrashView(BaseFolderView):
    permissions = {"GET": None}

    @extend_schema(parameters=TRASH.parameters())
    def get(self, request: Request) -> PageShape[WorkspaceShape]:
        """List the trash, what was deleted last first."""
        return TRASH.answer(self.actor, request.query_params)


class TrashedFolderView(BaseFolderView):
    permissions = {"POST": None, "DELETE": None}

    @extend_schema(request=None)
    def post(self, request: Request, trashed: UUID) -> WorkspaceDetailShape:
        """Restore it with its files."""
        row = selectors.find_deleted(self.actor, trashed)
        row = services.restore_folder(actor=self.actor, folder=row)
        return folder_detail(row, self.actor)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, trashed: UUID) -> Response:
        """Delete it permanently, with its files."""
        row = selectors.find_deleted(self.actor, trashed)
        services.purge_folder(actor=self.actor, folder=row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class _InvitationView(BaseFolderView):
    def invite(self, request: Request, workspace: str, **whom: Any) -> WorkspaceInvitationShape:
        row = self.folder(workspace)
        body = read(InvitationChangeSerializer, request)
        invited = services.invite(actor=self.actor, folder=row, **whom, **body)
        return invitation_row(invited)

    def withdraw(self, workspace: str, **whom: Any) -> Response:
        row = self.folder(workspace)
        found = row.invitations.filter(**whom).select_related("team", "user").first()
        services.withdraw(actor=self.actor, folder=row, invitation=found)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamInvitationView(_InvitationView):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=InvitationChangeSerializer)
    def put(self, request: Request, workspace: str, with_team: str) -> WorkspaceInvitationShape:
        """Let another team read, or also write."""
        return self.invite(request, workspace, team=self.team(with_team))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, workspace: str, with_team: str) -> Response:
        """Stop sharing with a team, at once."""
        return self.withdraw(workspace, team=self.team(with_team))


class PersonInvitationView(_InvitationView):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=InvitationChangeSerializer)
    def put(self, request: Request, workspace: str, email: str) -> WorkspaceInvitationShape:
        """Let a member of the organization read, or also write."""
        self.folder(workspace)  # its existence, before that of people
        return self.invite(request, workspace, user=person_in(email))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, workspace: str, email: str) -> Response:
        """Stop sharing with a person, at once."""
        return self.withdraw(workspace, user__email__iexact=email)


class FolderTreeView(BaseFolderView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            OpenApiParameter("path", str, description="A folder; default the top."),
            OpenApiParameter("after", str, description="Names after this one."),
            OpenApiParameter("limit", int),
        ]
    )
    def get(self, request: Request, workspace: str) -> WorkspaceTreeShape:
        """List a folder by name."""
        asked, limit = request.query_params, limit_in(request)
        path = asked.get("path", "").strip("/")
        tree = selectors.tree_of(self.folder(workspace))
        found = tree.listing(path, asked.get("after", ""), limit + 1)
        following = found[limit - 1].cursor if len(found) > limit else None
        return {"path": path, "items": entry_rows(found[:limit]), "next": following}


class FolderFileView(BaseFolderView):
    permissions = {"GET": None, "PUT": None, "DELETE": None}

    @extend_schema(responses=FILE)
    def get(
        self, request: Request, workspace: str, path: str
    ) -> HttpResponse | StreamingHttpResponse:
        """Download a file, or a range of its bytes."""
        return send_file(request._request, download_of(self.folder(workspace), path))

    @extend_schema(request=_BYTES, responses={201: WorkspaceEntryShape})
    def put(self, request: Request, workspace: str, path: str) -> Response:
        """Store the body as a file; it appears when all bytes came."""
        http = request._request
        entry = entries.put_file(
            actor=self.actor,
            folder=self.folder(workspace),
            path=path,
            chunks=body_chunks(http),
            size=announced_size(http),
            replaces=request.query_params.get("replace", "1") not in {"0", "false"},
        )
        return Response(entry_rows([entry])[0], status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, workspace: str, path: str) -> Response:
        """Delete a file, or a folder with all in it."""
        entries.delete(actor=self.actor, folder=self.folder(workspace), paths=[path])
        return Response(status=status.HTTP_204_NO_CONTENT)


class FolderBatchView(BaseFolderView):
    """Many small files in one request, whose bytes follow a line that names them."""

    permissions = {"PUT": None}

    @extend_schema(request=_BYTES, responses={204: None})
    def put(self, request: Request, workspace: str) -> Response:
        """Store up to 1,000 small files; they replace what is at their paths.

        The body is a line of JSON, `{"files": [{"path": …, "bytes": …}, …]}`, and then the bytes of
        these files one after the other: at most 1 MiB each and 32 MiB together.
        """
        row = self.folder(workspace)
        check_may_write(self.actor, row)
        files, chunks = files_in(request, WorkspaceFilesSerializer)
        entries.put_files(
            actor=self.actor,
            folder=row,
            files=[(file["path"], file["bytes"]) for file in files],
            chunks=chunks,
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class SubfolderView(BaseFolderView):
    permissions = {"PUT": None}

    @extend_schema(request=None)
    def put(self, request: Request, workspace: str, path: str) -> WorkspaceEntryShape:
        """Make a folder and those above it. Idempotent."""
        row = self.folder(workspace)
        entry = entries.make_folder(actor=self.actor, folder=row, path=path)
        return entry_rows([entry])[0]


class FolderMovesView(BaseFolderView):
    permissions = {"POST": None}

    @extend_schema(request=MoveSerializer)
    def post(self, request: Request, workspace: str) -> WorkspaceEntryShape:
        """Move or rename a file or folder."""
        row = self.folder(workspace)
        entry = entries.move(actor=self.actor, folder=row, **read(MoveSerializer, request))
        return entry_rows([entry])[0]


class FolderUploadsView(TusMixin, BaseFolderView):
    permissions = {"POST": None}

    @extend_schema(
        request=None,
        parameters=[
            OpenApiParameter("Upload-Length", int, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("Upload-Metadata", str, OpenApiParameter.HEADER, required=True),
        ],
        responses={201: None},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Start a file that comes in pieces; `filename` of Upload-Metadata is its path (tus 1.0)."""
        row = self.folder(workspace)
        check_may_write(self.actor, row)
        metadata = metadata_of(request.headers.get("Upload-Metadata", ""))
        upload = entries.start_upload(
            actor=self.actor,
            folder=row,
            path=metadata.get("filename", ""),
            size=number_in(request, "Upload-Length"),
        )
        kwargs = {"org": self.org.slug, "workspace": row.name, "upload": upload.id}
        where = reverse("api-workspace-upload", kwargs=kwargs)
        headers = {
            "Location": request.build_absolute_uri(where),
            "Upload-Offset": str(entries.received(upload)),
        }
        return Response(status=status.HTTP_201_CREATED, headers=headers)


class FolderUploadView(TusMixin, BaseFolderView):
    permissions = {"PATCH": None, "DELETE": None}

    @extend_schema(exclude=True)
    def head(self, request: Request, workspace: str, upload: UUID) -> Response:
        """Answer how many bytes came, and place the file if a failure came after the last ones."""
        row = self._upload(workspace, upload)
        if entries.received(row) == row.size:
            row = entries.append(actor=self.actor, upload=row, offset=row.size, chunks=[])
        headers = {"Upload-Length": str(row.size), "Upload-Offset": str(entries.received(row))}
        return Response(status=status.HTTP_200_OK, headers=headers)

    @extend_schema(
        request={PIECE: OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("Upload-Offset", int, OpenApiParameter.HEADER, required=True)],
        responses={204: None},
    )
    def patch(self, request: Request, workspace: str, upload: UUID) -> Response:
        """Append bytes; with the last ones the file appears (tus 1.0)."""
        row = self._upload(workspace, upload)
        offset = number_in(request, "Upload-Offset")
        if request.content_type != PIECE:
            raise UnsupportedMediaType(Message("Send the bytes as {kind}.", kind=PIECE))
        row = entries.append(
            actor=self.actor, upload=row, offset=offset, chunks=body_chunks(request._request)
        )
        headers = {"Upload-Offset": str(entries.received(row))}
        return Response(status=status.HTTP_204_NO_CONTENT, headers=headers)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, workspace: str, upload: UUID) -> Response:
        """Discard an upload (tus 1.0)."""
        entries.discard_upload(actor=self.actor, upload=self._upload(workspace, upload))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _upload(self, workspace: str, upload: UUID) -> FolderUpload:
        row = self.folder(workspace)
        check_may_write(self.actor, row)
        return entries.find_upload(self.actor, row, upload)


def person_in(email: str) -> User:
    """Return a member of the current organization. Raises NotFound."""
    row = Membership.objects.filter(user__email__iexact=email).select_related("user").first()
    if row is None or not email.isprintable():
        raise NotFound(
            Message("{email} is not a member of the organization.", email=email[:200]),
            code="no_member",
        )
    return row.user  # type: ignore[no-any-return]
