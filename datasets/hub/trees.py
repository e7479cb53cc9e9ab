"""Read trees, files, history, branches and tags."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from datasets import services
from datasets.downloads import download_of
from datasets.history import last_changes
from datasets.hub.represent import commit_row, entry_row, last_commit_row, ref_rows
from datasets.hub.requests import (
    actor_of,
    answer_json,
    check_honoured,
    hub_view,
    json_of,
    repository_of,
    split_revision,
    text_in,
    version_of,
)
from datasets.models import Ref, Version
from datasets.names import checked_path
from datasets.selectors import find_file, refs_of, tree_of, versions_of
from datasets.trees import Folder, Tree, TreeEntry, sort_key
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.transfers import send_file

PAGE = 1000
PAGE_EXPANDED = 50  # entries with the version that changed them last; the Hub's limit
MOST_PATHS = 10_000
MOST_PATHS_EXPANDED = 1000


@hub_view("GET")
def tree(request: HttpRequest, plural: str, name: str, rest: str) -> HttpResponse:
    """List a folder, or with `recursive` all below it, in pages."""
    row = repository_of(request, plural, name)
    version, folder = split_revision(row, rest)
    found = tree_of(version)
    folder = checked_path(folder) if folder else ""
    if folder and not found.is_folder(folder):
        raise NotFound(Message("There is no folder {path}.", path=folder), code="no_file")
    after = request.GET.get("cursor", "")
    is_recursive = request.GET.get("recursive", "").lower() in {"true", "1"}
    entries = _all_below(found, folder, after) if is_recursive else found.listing(folder, after)
    is_expanded = _is_expanded(request.GET.get("expand", ""))
    most = PAGE_EXPANDED if is_expanded else PAGE
    page = list(islice(entries, most + 1))
    headers = {}
    if len(page) > most:
        query = urlencode({**request.GET.dict(), "cursor": page[most - 1].path})
        url = request.build_absolute_uri(f"{request.path}?{query}")
        headers["Link"] = f'<{url}>; rel="next"'
    return answer_json(_rows(version, page[:most], is_expanded=is_expanded), headers=headers)


@hub_view("POST")
def paths_info(request: HttpRequest, plural: str, name: str, revision: str) -> HttpResponse:
    """Return those of the given paths that exist."""
    row = repository_of(request, plural, name)
    version = version_of(row, revision)
    found = tree_of(version)
    if request.content_type == "application/json":
        data = json_of(request)
        given = data.get("paths")
        is_expanded = _is_expanded(data.get("expand"))
        paths = given if isinstance(given, list) else [given]
    else:
        paths = request.POST.getlist("paths")
        is_expanded = _is_expanded(request.POST.get("expand"))
    most = MOST_PATHS_EXPANDED if is_expanded else MOST_PATHS
    if len(paths) > most:
        raise InvalidInput.at(
            "paths", Message("must be at most {n}", context="error of a field", n=most)
        )
    names = [unicodedata.normalize("NFC", str(text).strip("/")) for text in paths]
    entries: dict[str, TreeEntry | Folder] = {}
    for path in sorted({*names}, key=sort_key):  # so that each block of the tree is read once
        if entry := found.find(path):
            entries[path] = entry
        elif path and found.is_folder(path):
            entries[path] = Folder(path)
    in_order = [entries[path] for path in names if path in entries]
    rows = _rows(version, in_order, is_expanded=is_expanded)
    return answer_json([{**row, **_copied_by(row)} for row in rows])


def _copied_by(row: dict[str, Any]) -> dict[str, Any]:
    """Return what clients need to copy a file to another repository; they send empty ones."""
    if row["type"] != "file":
        return {}
    return {"xetHash": row["lfs"]["oid"]} if row["size"] else {"lfs": None}


def _is_expanded(value: object) -> bool:
    return str(value).lower() in {"true", "1"}


def _rows(
    version: Version | None, entries: Sequence[TreeEntry | Folder], *, is_expanded: bool
) -> list[dict[str, Any]]:
    """Return entries; with `expand` each with the version that changed it last."""
    if not is_expanded:
        return [entry_row(entry) for entry in entries]
    changes = last_changes(version, [entry.path for entry in entries])
    return [
        {**entry_row(entry), "lastCommit": last_commit_row(changes.get(entry.path))}
        for entry in entries
    ]


@hub_view("GET")
def refs(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """List branches and tags."""
    rows = refs_of(repository_of(request, plural, name))
    return answer_json(
        {
            "branches": ref_rows(rows, Ref.Kind.BRANCH),
            "tags": ref_rows(rows, Ref.Kind.TAG),
            "converts": [],
            "pullRequests": [],
        }
    )


@hub_view("GET")
def commits(request: HttpRequest, plural: str, name: str, revision: str) -> HttpResponse:
    """List the versions that led to a revision, the last one first."""
    row = repository_of(request, plural, name)
    version = version_of(row, revision)
    parents = {v.id: v for v in versions_of(row)}
    found: list[Version] = []
    while version is not None:
        found.append(parents.get(version.id, version))
        version = parents.get(version.parent_id) if version.parent_id else None
    return answer_json([commit_row(each) for each in found])


@hub_view("POST", "DELETE")
def branch(request: HttpRequest, plural: str, name: str, branch: str) -> HttpResponse:
    """Create or delete a branch."""
    row = repository_of(request, plural, name)
    if request.method == "DELETE":
        services.delete_ref(
            actor=actor_of(request), repository=row, name=branch, kind=Ref.Kind.BRANCH
        )
    else:
        data = json_of(request)
        check_honoured(data, "startingPoint", "emptyBranch")
        start = None if data.get("emptyBranch") else version_of(row, text_in(data, "startingPoint"))
        services.create_branch(actor=actor_of(request), repository=row, name=branch, version=start)
    return answer_json({})


@hub_view("POST")
def super_squash(request: HttpRequest, plural: str, name: str, branch: str) -> HttpResponse:
    """Replace the history of a branch by one version."""
    row = repository_of(request, plural, name)
    data = json_of(request)
    check_honoured(data, "message")
    services.squash_history(
        actor=actor_of(request),
        repository=row,
        branch=branch.removeprefix("refs/heads/"),
        message=text_in(data, "message"),
    )
    return answer_json({})


@hub_view("POST", "DELETE")
def tag(request: HttpRequest, plural: str, name: str, revision: str) -> HttpResponse:
    """Tag a revision, or delete a tag."""
    row = repository_of(request, plural, name)
    if request.method == "DELETE":
        services.delete_ref(
            actor=actor_of(request), repository=row, name=revision, kind=Ref.Kind.TAG
        )
        return answer_json({})
    data = json_of(request)
    check_honoured(data, "tag", "message")
    services.set_tag(
        actor=actor_of(request),
        repository=row,
        name=text_in(data, "tag"),
        version=version_of(row, revision),
        message=text_in(data, "message"),
        must_be_new=True,
    )
    return answer_json({})


@hub_view("GET", "HEAD")
def resolve(request: HttpRequest, plural: str, name: str, rest: str) -> HttpResponseBase:
    """Send a file, or with HEAD its size, digest and version."""
    row = repository_of(request, plural, name)
    version, path = split_revision(row, rest)
    if version is None:
        raise NotFound(Message("{name} has no files yet.", name=row.name), code="no_file")
    entry = find_file(version, path)
    headers = {
        "X-Repo-Commit": version.commit,
        "X-Linked-Size": str(entry.size),
        "X-Linked-Etag": f'"{entry.sha256}"',
    }
    if request.method == "HEAD":
        sizes = {"Content-Length": str(entry.size), "Accept-Ranges": "bytes"}
        response: HttpResponseBase = HttpResponse(
            headers={"ETag": f'"{entry.sha256}"', **sizes}, content_type="application/octet-stream"
        )
    else:
        response = send_file(request, download_of(row, entry))
    for field, value in headers.items():
        response.headers[field] = value
    return response


def _all_below(found: Tree, folder: str, after: str):  # type: ignore[no-untyped-def]
    """Yield files below a folder, and each subfolder before its first file."""
    inside = f"{folder}/" if folder else ""
    last = after
    entries = found.entries(after) if after else found.below(folder)
    for entry in entries:
        if not entry.path.startswith(inside):
            return
        if after and entry.path == after:
            continue
        for parent in _new_folders(last, entry.path, len(inside)):
            yield Folder(parent)
        last = entry.path
        yield entry


def _new_folders(last: str, path: str, start: int) -> list[str]:
    """Return the folders of a path that the path before it was not in."""
    names = path[start:].split("/")[:-1]
    folders = [path[:start] + "/".join(names[: n + 1]) for n in range(len(names))]
    return [folder for folder in folders if last != folder and not last.startswith(f"{folder}/")]
