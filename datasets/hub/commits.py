"""Write: what to upload and how, git LFS, tokens for Xet, and commits."""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import Iterator
from typing import Any

import orjson
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from datasets import services
from datasets.access import check_may_write
from datasets.hub.gitignore import GitIgnore
from datasets.hub.requests import (
    EMPTY,
    actor_of,
    address_of,
    answer_json,
    base_url,
    check_honoured,
    hub_view,
    json_of,
    objects_in,
    repository_of,
    size_in,
    text_in,
    version_of,
)
from datasets.models import Repository
from datasets.selectors import contents_in, tree_of, visible_repositories
from datasets.services.contents import MOST_FILES
from portal.blobs.store import file_store
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, PortalError
from portal.core.messages import Message
from portal.web.transfers import announced_size, body_chunks, lines_of
from workspaces.access.actors import Actor
from workspaces.access.actors import actor_of as actor_of_user
from workspaces.models import User
from workspaces.tenancy.http import enter

REGULAR = 64 << 10  # bytes: smaller texts come inside the commit
MOST_OBJECTS = 1000  # in one request
VALID_SECONDS = 3600 * 6  # of an address to upload to
LARGEST_IGNORE = 1 << 20  # bytes
_FIELDS = {  # of the lines of a commit
    "header": ("summary", "description", "parentCommit"),
    "file": ("path", "content", "encoding"),
    "lfsFile": ("path", "algo", "oid", "size"),
    "deletedFile": ("path",),
    "deletedFolder": ("path",),
    "copyFile": ("path", "srcPath", "srcRevision"),
}
_SALT = "datasets.hub.upload"
_AT_ONCE = 8 << 20  # bytes of small files in memory


@hub_view("POST")
def preupload(request: HttpRequest, plural: str, name: str, revision: str) -> HttpResponse:
    """Say for each file whether it comes inside the commit or is uploaded before."""
    row = repository_of(request, plural, name)
    check_may_write(actor_of(request), row)
    check_honoured(request.GET.dict())
    data = json_of(request)
    check_honoured(data, "files", "gitIgnore")
    files = objects_in(data, "files", MOST_OBJECTS)
    ignored = _gitignore(row, revision, data)
    return answer_json(
        {
            "files": [
                {
                    "path": text_in(file, "path"),
                    "uploadMode": "regular" if _is_small_text(file) else "lfs",
                    "shouldIgnore": ignored.excludes(text_in(file, "path")),
                    "oid": None,
                }
                for file in files
            ]
        }
    )


@hub_view("POST")
def lfs_batch(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """Say which objects are missing and where to send them (git LFS)."""
    row = repository_of(request, plural, name)
    check_may_write(actor_of(request), row)
    data = json_of(request)
    objects = objects_in(data, "objects", MOST_OBJECTS)
    if data.get("operation") != "upload":
        raise InvalidInput(Message("Download files from resolve."))
    known = contents_in(row, [text_in(each, "oid") for each in objects])
    rows = [_object(request, row, each, known) for each in objects]
    transfers = data.get("transfers")
    transfer = "xet" if isinstance(transfers, list) and "xet" in transfers else "basic"
    return HttpResponse(
        orjson.dumps({"transfer": transfer, "objects": rows, "hash_algo": "sha256"}),
        content_type="application/vnd.git-lfs+json",
    )


@csrf_exempt  # the signature in the address is the permission
@require_http_methods(["PUT"])
def lfs_upload(request: HttpRequest, signature: str) -> HttpResponse:
    """Store an object at the address that `lfs_batch` gave."""
    try:
        org, user, repository, digest, size = signing.loads(
            signature, salt=_SALT, max_age=VALID_SECONDS
        )
    except signing.BadSignature as error:
        raise NotPermitted(
            Message("This address is not valid any more. Start the upload again.")
        ) from error
    person = User.objects.filter(id=user, is_active=True).first()
    if person is None:
        raise NotPermitted(Message("This address is not valid any more. Start the upload again."))
    request.actor = actor_of_user(person)  # type: ignore[attr-defined]
    enter(request, org)
    row = visible_repositories(actor_of(request)).filter(id=repository).first()
    if row is None:
        raise NotFound(Message("There is no such repository."), code="no_repository")
    if announced_size(request) not in {None, size}:
        raise InvalidInput(Message("The file must have {n} bytes.", n=size))
    services.put_file(
        actor=actor_of(request),
        repository=row,
        chunks=body_chunks(request),
        size=size,
        sha256=digest,
    )
    return HttpResponse(headers={"ETag": f'"{digest}"'})


@hub_view("POST")
def duplicate(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """Give files of a repository to another one of the organization, for a commit to come."""
    source = repository_of(request, plural, name)
    data = json_of(request)
    check_honoured(data, "target", "files")
    target = data.get("target")
    if not isinstance(target, dict):
        raise InvalidInput.at("target", Message("must have a type and a name"))
    org, _slash, to = text_in(target, "name").rpartition("/")
    if org != request.org.slug:  # type: ignore[attr-defined]
        raise InvalidInput(Message("Files can't be copied to another organization."))
    row = repository_of(request, f"{text_in(target, 'type', 'model')}s", to)
    digests = [text_in(each, "sha256") for each in objects_in(data, "files", MOST_OBJECTS)]
    missing = services.copy_contents(
        actor=actor_of(request), source=source, target=row, digests=digests
    )
    error = str(Message("No version of {name} has this file.", name=source.name))
    failed = [{"sha256": digest, "error": error} for digest in sorted(missing)]
    copied = [{"sha256": digest} for digest in digests if digest not in missing]
    return answer_json({"success": copied, "failed": failed})


@hub_view("GET")
def xet_token(
    request: HttpRequest, plural: str, name: str, access: str, revision: str
) -> HttpResponse:
    """Return where to send chunks. The token is the one that the client has already."""
    row = repository_of(request, plural, name)
    if access == "write":
        check_may_write(actor_of(request), row)
    url = request.build_absolute_uri(f"/xet/{row.org.slug}/{row.id}")
    token = request.headers["Authorization"].partition(" ")[2]
    until = int(time.time()) + VALID_SECONDS
    return answer_json(
        {"casUrl": url, "accessToken": token, "exp": until},
        headers={
            "X-Xet-Cas-Url": url,
            "X-Xet-Access-Token": token,
            "X-Xet-Token-Expiration": str(until),
        },
    )


@hub_view("POST")
def commit(request: HttpRequest, plural: str, name: str, revision: str) -> HttpResponse:
    """Commit changes: one JSON object a line, the first one with the message."""
    row = repository_of(request, plural, name)
    actor = actor_of(request)
    check_may_write(actor, row)
    check_honoured(request.GET.dict())
    header: dict[str, Any] = {}
    changes = list(_changes(request, row, header))
    parent = text_in(header, "parentCommit") if header.get("parentCommit") is not None else None
    try:
        made = services.commit(
            actor=actor,
            repository=row,
            changes=changes,
            message=text_in(header, "summary"),
            description=text_in(header, "description"),
            branch=revision.removeprefix("refs/heads/"),
            parent="" if parent == EMPTY else parent,
        )
    except Conflict as error:
        if error.kind == "moved":
            raise _PreconditionFailed(error.message) from error
        raise
    return answer_json(
        {
            "success": True,
            "commitOid": made.commit,
            "commitUrl": f"{address_of(request, row)}/commit/{made.commit}",
            "hookOutput": "",
            "pullRequestUrl": None,
        }
    )


class _PreconditionFailed(PortalError):
    """The branch has moved since the parent commit that the client named."""

    code, http = "moved", 412


def _changes(
    request: HttpRequest, row: Repository, header: dict[str, Any]
) -> Iterator[services.Change]:
    """Yield the changes of a request; fills in its header, and stores small files at the end."""
    small = _SmallFiles(actor_of(request), row)
    for line in lines_of(body_chunks(request)):
        try:
            item = orjson.loads(line)
            key, value = item["key"], item["value"]
            check_honoured(value, *_FIELDS[key])
            if key == "header":
                header.update(value)
                continue
            path = text_in(value, "path")
            if key == "file":
                yield services.Add(path, small.add(_content(value)))
            elif key == "lfsFile":
                yield services.Add(path, text_in(value, "oid"))
            elif key == "deletedFile":
                yield services.Delete(path)
            elif key == "deletedFolder":
                yield services.Delete(path.rstrip("/"), is_folder=True)
            elif key == "copyFile":
                source, revision = text_in(value, "srcPath"), text_in(value, "srcRevision")
                yield services.Copy(source, path, revision)
            if value.get("algo", "sha256") != "sha256":
                raise InvalidInput.at("algo", Message("must be sha256", context="error of a field"))
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(Message("A line of the commit is malformed.")) from error
    small.store()


class _SmallFiles:
    """Files that come inside a commit; many are stored at once."""

    def __init__(self, actor: Actor, row: Repository):
        self._actor, self._row = actor, row
        self._contents: list[bytes] = []
        self._bytes = 0

    def add(self, content: bytes) -> str:
        """Take a file, to be stored before `store` returns; return its SHA-256."""
        if len(self._contents) == MOST_FILES or self._bytes + len(content) > _AT_ONCE:
            self.store()
        self._contents.append(content)
        self._bytes += len(content)
        return hashlib.sha256(content).hexdigest()

    def store(self) -> None:
        """Store what was taken. Raises as `services.put_files` does."""
        if self._contents:
            sizes = [len(content) for content in self._contents]
            services.put_files(
                actor=self._actor, repository=self._row, contents=self._contents, sizes=sizes
            )
        self._contents, self._bytes = [], 0


def _gitignore(row: Repository, revision: str, data: dict[str, Any]) -> GitIgnore:
    """Return the patterns that a request brings, else those of the repository."""
    text = text_in(data, "gitIgnore")
    if "gitIgnore" not in data:
        version = version_of(row, revision)
        entry = tree_of(version).find(".gitignore")
        if entry is not None and entry.size > LARGEST_IGNORE:
            raise InvalidInput(Message("The .gitignore of the repository is too large to read."))
        parts = file_store().read(row.org_id, entry.sha256) if entry else ()
        text = b"".join(parts).decode(errors="replace")
    return GitIgnore(text)


def _is_small_text(file: dict[str, Any]) -> bool:
    """Return whether a file is text, by its first bytes. Libraries upload others beforehand."""
    if size_in(file) > REGULAR:
        return False
    try:
        return b"\0" not in base64.b64decode(text_in(file, "sample"))
    except binascii.Error:
        return False


def _content(value: dict[str, Any]) -> bytes:
    """Return the content of a file that comes inside a commit."""
    content = text_in(value, "content")
    try:
        encoding = value.get("encoding", "base64")
        if encoding not in ("base64", "utf-8"):
            raise InvalidInput.at("encoding", Message("must be base64 or utf-8"))
        is_binary = encoding == "base64"
        return base64.b64decode(content, validate=True) if is_binary else content.encode()
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(Message("The content of a file is not base64.")) from error


def _object(
    request: HttpRequest, row: Repository, wanted: dict[str, Any], known: dict[str, int]
) -> dict[str, Any]:
    digest, size = text_in(wanted, "oid"), size_in(wanted)
    found = {"oid": digest, "size": size}
    if len(digest) != 64:
        raise InvalidInput.at("objects", Message("must have a SHA-256"))
    if known.get(digest) == size:
        return found
    org = request.org.slug  # type: ignore[attr-defined]
    who = str(actor_of(request).user_id)
    signature = signing.dumps([org, who, str(row.id), digest, size], salt=_SALT)
    upload = {"href": f"{base_url(request)}/upload/{signature}", "expires_in": VALID_SECONDS}
    return {**found, "authenticated": True, "actions": {"upload": upload}}
