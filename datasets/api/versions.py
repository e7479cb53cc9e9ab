"""REST: versions, commits, files, differences, branches and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, Any

import orjson
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from datasets import selectors, services
from datasets.access import check_may_write
from datasets.api import serializers as s
from datasets.api.views import KindView
from datasets.downloads import download_of, small_files
from datasets.models import Ref, Repository, Version
from datasets.names import checked_path
from datasets.representations import (
    DiffShape,
    FreedShape,
    RefShape,
    RepositoryVersionShape,
    TreeShape,
    difference_rows,
    entry_rows,
    ref_rows,
    version_rows,
)
from datasets.trees import differences
from portal.api.render import JSONParser
from portal.api.schema import FILE
from portal.core.errors import InvalidInput, NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.keyset import Order, page_of
from portal.core.messages import Message
from portal.core.protocols import MAX_BODY
from portal.core.shapes import PageShape, whole_page
from portal.web.transfers import PIECE, announced_size, lines_of, send_file
from workspaces.api.base import idempotent
from workspaces.api.views import read

PAGE, LARGEST_PAGE = 100, 1000
LARGEST_JSON = 4 * MAX_BODY
_PAGING = [
    OpenApiParameter("after", str, description="From `next`."),
    OpenApiParameter("limit", int, description=f"1 to {LARGEST_PAGE}; default {PAGE}."),
]
_REVISION = OpenApiParameter(
    "revision", str, description="Branch, tag, number or commit; default the default branch."
)


class VersionsView(KindView):
    permissions = {"GET": None}

    @extend_schema(parameters=[OpenApiParameter("cursor", str), _PAGING[1]])
    def get(self, request: Request, repository: str) -> PageShape[RepositoryVersionShape]:
        """List the versions, the last one first."""
        row = self.repository(repository)
        page = page_of(
            selectors.versions_of(row),
            Order("number", is_descending=True),
            limit=limit_in(request),
            cursor=request.query_params.get("cursor", ""),
        )
        rows = version_rows(row, page.items)
        return {"items": rows, "next": page.next, "previous": page.previous}


class VersionView(KindView):
    permissions = {"GET": None, "DELETE": None}

    def get(self, request: Request, repository: str, revision: str) -> RepositoryVersionShape:
        """Get a version by branch, tag, number or commit."""
        return _version_row(self.version(repository, revision))

    def delete(self, request: Request, repository: str, revision: str) -> FreedShape:
        """Delete a version that has neither branch nor tag, and what only it needs."""
        version = self.version(repository, revision)
        freed = services.delete_versions(
            actor=self.actor, repository=version.repository, versions=[version]
        )
        return {"versions": [version.number], "bytes": freed}


class Lines:
    """The body of a commit with one change a line, read once."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream

    def __str__(self) -> str:  # for the fingerprint of a request with an Idempotency-Key
        return LinesParser.media_type

    def __iter__(self) -> Iterator[dict[str, Any]]:
        pieces = iter(lambda: self._stream.read(PIECE), b"")
        for number, line in enumerate(lines_of(pieces), 1):
            yield _object(line, number)


class LinesParser(BaseParser):
    media_type = "application/x-ndjson"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return Lines(stream)


class CommitsView(KindView):
    permissions = {"POST": None}
    parser_classes = (JSONParser, LinesParser)

    @extend_schema(
        request={
            "application/json": s.CommitSerializer,
            "application/x-ndjson": OpenApiTypes.BINARY,
        },
        responses={201: RepositoryVersionShape},
    )
    def post(self, request: Request, repository: str) -> Response:
        """Make a version of changes to a branch, whose files were uploaded before.

        For many changes send `application/x-ndjson`: first a line with all but `changes`, then a
        line for each change. Without changes to the files, the head of the branch is returned. If
        the branch is no longer at `parent`, the answer is 409 with the code `moved`.
        """
        row = self.repository(repository)
        check_may_write(self.actor, row)
        if "ndjson" not in request.content_type and (
            (announced_size(request._request) or 0) > LARGEST_JSON
        ):
            raise TooLarge(
                Message(
                    "A JSON body has at most {most}. Send application/x-ndjson.",
                    most=bytes_text(LARGEST_JSON),
                )
            )
        return self._post(request, row)

    @idempotent
    def _post(self, request: Request, row: Repository) -> Response:
        if isinstance(request.data, Lines):
            lines = iter(request.data)
            body, changes = next(lines, None), lines
            if body is None:
                raise InvalidInput(Message("The body has no line."), code="not_json")
        else:
            body = dict(request.data)
            given = body.pop("changes", None)
            if not isinstance(given, list):
                raise InvalidInput.at(
                    "changes", Message("must be a list", context="error of a field")
                )
            changes = iter(given)
        about = s.CommitSerializer(data={**body, "changes": []})
        about.is_valid(raise_exception=True)
        fields = {name: about.validated_data[name] for name in body if name in _ABOUT}
        version = services.commit(
            actor=self.actor,
            repository=row,
            changes=(_change(change, number) for number, change in enumerate(changes)),
            **{"message": "", **fields},
        )
        return Response(_version_row(version), status=status.HTTP_201_CREATED)


_ABOUT = {"message", "description", "branch", "parent"}


class TreeView(KindView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            _REVISION,
            OpenApiParameter("path", str, description="A folder; default the top."),
            OpenApiParameter("recursive", bool, description="All files below it."),
            *_PAGING,
        ]
    )
    def get(self, request: Request, repository: str) -> TreeShape:
        """List files and folders of a version, in order of their paths."""
        asked = request.query_params
        version = self.version(repository, asked.get("revision", ""))
        tree = selectors.tree_of(version)
        folder = _path(asked.get("path", "").strip("/"))
        after = asked.get("after", "")
        is_recursive = asked.get("recursive", "").lower() in {"1", "true"}
        if folder and not tree.is_folder(folder):
            raise NotFound(
                Message("There is no folder {path} in this version.", path=repr(folder[:200])),
                code="no_folder",
            )
        entries = tree.below(folder, after) if is_recursive else tree.listing(folder, after)
        found, following = _page(entries, request)
        return {
            "version": version.number,
            "commit": version.commit,
            "path": folder,
            "items": entry_rows(found),
            "next": following,
        }


class DiffView(KindView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            OpenApiParameter("from", str, description="A revision; default the parent of `to`."),
            OpenApiParameter("to", str, description="A revision; default the default branch."),
            *_PAGING,
        ]
    )
    def get(self, request: Request, repository: str) -> DiffShape:
        """List the files that two versions do not have in common."""
        asked = request.query_params
        after = self.version(repository, asked.get("to", ""))
        before = after.parent
        if asked.get("from"):
            before = selectors.find_version(after.repository, asked["from"])
        changes = differences(
            selectors.tree_of(before), selectors.tree_of(after), asked.get("after", "")
        )
        found, following = _page(changes, request)
        return {
            "before": before.commit if before else None,
            "after": after.commit,
            "items": difference_rows(found),
            "next": following,
        }


class FileView(KindView):
    permissions = {"GET": None}

    @extend_schema(responses=FILE)
    def get(
        self, request: Request, repository: str, revision: str, path: str
    ) -> HttpResponse | StreamingHttpResponse:
        """Download a file, or a range of its bytes."""
        version = self.version(repository, revision)
        return send_file(
            request._request, download_of(version.repository, selectors.find_file(version, path))
        )


class DownloadsView(KindView):
    permissions = {"POST": None}

    @extend_schema(
        request=s.PathsSerializer,
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def post(self, request: Request, repository: str, revision: str) -> StreamingHttpResponse:
        """Download up to 1,000 small files: their bytes, in the order of `paths`, and nothing else.

        Each has at most 1 MiB, all together 32 MiB. The tree has the size and SHA-256 of each.
        """
        version = self.version(repository, revision)
        entries = selectors.find_files(version, read(s.PathsSerializer, request)["paths"])
        services.check_small([entry.size for entry in entries])
        pieces = small_files(version.repository, entries)
        headers = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}
        return StreamingHttpResponse(
            pieces, content_type="application/octet-stream", headers=headers
        )


class RefsView(KindView):
    permissions = {"GET": None}

    def get(self, request: Request, repository: str) -> PageShape[RefShape]:
        """List branches and tags."""
        return whole_page(ref_rows(selectors.refs_of(self.repository(repository))))


class TagView(KindView):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=s.TagSerializer)
    def put(self, request: Request, repository: str, tag: str) -> RefShape:
        """Name a version. A tag that exists is moved only with `may_move`."""
        row = self.repository(repository)
        body = read(s.TagSerializer, request)
        version = selectors.find_version(row, body.pop("revision"))
        ref = services.set_tag(actor=self.actor, repository=row, name=tag, version=version, **body)
        return ref_rows([ref])[0]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository: str, tag: str) -> Response:
        """Delete a tag; its version stays."""
        return _delete_ref(self, repository, Ref.Kind.TAG, tag)


class BranchesView(KindView):
    permissions = {"POST": None}

    @extend_schema(request=s.NewBranchSerializer, responses={201: RefShape})
    @idempotent
    def post(self, request: Request, repository: str) -> Response:
        """Create a branch at a revision, by default the head of the default branch."""
        row = self.repository(repository)
        body = read(s.NewBranchSerializer, request)
        ref = services.create_branch(
            actor=self.actor,
            repository=row,
            name=body["name"],
            version=selectors.version_or_none(row, body["revision"]),
        )
        return Response(ref_rows([ref])[0], status=status.HTTP_201_CREATED)


class BranchView(KindView):
    permissions = {"DELETE": None}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository: str, branch: str) -> Response:
        """Delete a branch; its versions stay until retention deletes them."""
        return _delete_ref(self, repository, Ref.Kind.BRANCH, branch)


def _delete_ref(view: KindView, repository: str, kind: str, name: str) -> Response:
    row = view.repository(repository)
    if all(ref.name != name for ref in selectors.refs_of(row, kind)):
        raise NotFound(Message("There is no branch or tag {name}.", name=repr(name[:100])))
    services.delete_ref(actor=view.actor, repository=row, name=name)
    return Response(status=status.HTTP_204_NO_CONTENT)


def _version_row(version: Version) -> RepositoryVersionShape:
    return version_rows(version.repository, [version])[0]


def _path(text: str) -> str:
    return checked_path(text) if text else ""


def limit_in(request: Request) -> int:
    """Return the number of rows of a page that is asked for. Raises InvalidInput."""
    text = request.query_params.get("limit", str(PAGE))
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= LARGEST_PAGE):
        raise InvalidInput.at(
            "limit", Message("must be a number from 1 to {n}", n=f"{LARGEST_PAGE:,}")
        )
    return int(text)


def _page(rows: Iterator[Any], request: Request) -> tuple[list[Any], str | None]:
    limit = limit_in(request)
    found = list(islice(rows, limit + 1))
    return found[:limit], found[limit - 1].path if len(found) > limit else None


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(
            Message("Line {n} of the body is not a JSON object.", n=number), code="not_json"
        )
    return found


def _change(given: Any, number: int) -> services.Change:
    """Return a change of a commit. Raises InvalidInput."""
    fields = given if isinstance(given, dict) else {}
    op, path = fields.get("op"), fields.get("path")
    texts = [fields.get(name, "") for name in ("path", "sha256", "source", "revision")]
    if not path or not all(isinstance(text, str) and "\x00" not in text for text in texts):
        raise InvalidInput.at(f"changes[{number}]", Message("must have a path"))
    _path, sha256, source, revision = texts
    if op == "add" and sha256:
        return services.Add(path, sha256)
    if op == "delete":
        return services.Delete(path, is_folder=fields.get("is_folder") is True)
    if op == "copy" and source:
        return services.Copy(source, path, revision)
    raise InvalidInput.at(
        f"changes[{number}]",
        Message("must be add with sha256, delete, or copy with source"),
    )
