"""Pages: a folder, a file with its preview, and downloads."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from datasets import selectors, services
from datasets.downloads import download_of
from datasets.models import Share
from datasets.names import checked_path
from datasets.origins import VersionOrigin, origins_of
from datasets.services import Delete
from datasets.trees import Folder, Tree, TreeEntry
from datasets.web.base import RepositoryPage
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.previews import preview_of, text_of
from portal.web.transfers import send_file
from workspaces.web.base import action, page

PAGE = 100  # entries of a folder
LONGEST_CARD = 256 << 10  # bytes


@page(None, ("GET", "HEAD", "POST"))
def folder(request: Any, kind: str, repository: str, path: str = "") -> HttpResponse:
    """Show a folder of a version, with its README; delete what is selected."""
    place = RepositoryPage(request, kind, repository)
    if request.method == "POST":
        return _delete(place, path)
    path, tree = checked_path(path) if path else "", place.tree
    after = request.GET.get("after", "")
    found = list(islice(tree.listing(path, after), PAGE + 1))
    if path and not found and not after:
        raise NotFound(Message("There is no folder {path} in this version.", path=repr(path[:200])))
    entries = [_item(place, one) for one in found[:PAGE]]
    if len(found) <= PAGE and not after:  # all of the folder: folders first, as people expect
        entries.sort(key=lambda one: not one["is_folder"])
    context = place.context("files", title=path.rpartition("/")[2] if path else None)
    return render(
        request,
        "datasets/folder.html",
        context
        | {
            "path": path,
            "parts": _parts(place, path),
            "entries": entries,
            "next": _page(place, path, found[PAGE - 1].path) if len(found) > PAGE else "",
            "first": _page(place, path) if after else "",
            "card": _card(place, tree, path),
            "usage": place.usage(path),
            "made_by": _made_by(place),
            "shares": Share.objects.filter(repository=place.row).select_related("team"),
            "parent": place.version.commit if place.version else "",
        },
    )


def _made_by(place: RepositoryPage) -> VersionOrigin | None:
    """Return the job that made the version, if the viewer may see it."""
    job_id = place.version.job_id if place.version else None
    return origins_of(place.request.actor, [job_id]).get(job_id) if job_id else None


@page(None)
def file(request: Any, kind: str, repository: str, path: str) -> HttpResponse:
    """Show a file of a version."""
    place = RepositoryPage(request, kind, repository)
    entry, org_id = _file(place, path), place.row.org_id
    preview = preview_of(entry.path, entry.size, lambda: file_store().open(org_id, entry.sha256))
    return render(
        request,
        "datasets/file.html",
        place.context("files", title=entry.path.rpartition("/")[2])
        | {
            "path": entry.path,
            "parts": _parts(place, entry.path),
            "entry": entry,
            "preview": preview,
            "raw": place.url("repository-raw", path=entry.path),
            "shown": place.url("repository-raw", {"show": "1"}, path=entry.path),
            "is_markdown": preview.kind == "text" and entry.path.lower().endswith(".md"),
            "parent": place.version.commit if place.version else "",
        },
    )


@page(None)
def download(request: Any, kind: str, repository: str, path: str) -> Any:
    """Download a file of a version; with `show`, images and sounds are shown in the page."""
    place = RepositoryPage(request, kind, repository)
    is_shown = bool(request.GET.get("show"))
    return send_file(request, download_of(place.row, _file(place, path), is_shown=is_shown))


def _file(place: RepositoryPage, path: str) -> TreeEntry:
    if place.version is None:
        raise NotFound(Message("{name} has no files yet.", name=place.row.name), code="empty")
    return selectors.find_file(place.version, path)


def _delete(place: RepositoryPage, path: str) -> HttpResponse:
    """Delete the selected files and folders in one commit."""
    given = place.request.POST
    paths = given.getlist("path")
    if not paths:
        raise InvalidInput.at("path", Message("choose one", context="error of a field"))
    about = {"n": len(paths), "name": paths[0].rpartition("/")[2]}
    message = given.get("message", "").strip() or str(
        Message.plural(
            len(paths),
            "Delete {name}",
            "Delete {n} files and folders",
            context="number of things",
            **about,
        )
    )
    done = Message.plural(
        len(paths), "The file {name} was deleted.", "{n} files and folders were deleted.", **about
    )
    is_folder = bool(path) and _is_left(place, path, paths)
    return action(
        place.request,
        place.url("repository-folder", path=path) if is_folder else place.url(),
        done,
        lambda: services.commit(
            actor=place.request.actor,
            repository=place.row,
            changes=[Delete(one) for one in paths],
            message=message,
            branch=place.revision,
            parent=given.get("parent"),
        ),
    )


def _is_left(place: RepositoryPage, path: str, deleted: list[str]) -> bool:
    """Return whether a folder still has files afterwards: folders exist only through them."""
    gone = tuple(f"{one}/" for one in deleted)
    return any(
        one.path not in deleted and not f"{one.path}/".startswith(gone)
        for one in islice(place.tree.listing(path), PAGE * 2)
    )


def _item(place: RepositoryPage, one: TreeEntry | Folder) -> dict[str, Any]:
    is_folder = isinstance(one, Folder)
    page_of = "repository-folder" if is_folder else "repository-file"
    return {
        "path": one.path,
        "name": one.path.rpartition("/")[2],
        "is_folder": is_folder,
        "size": one.size if isinstance(one, TreeEntry) else None,
        "sha256": one.sha256 if isinstance(one, TreeEntry) else "",
        "url": place.url(page_of, path=one.path),
        "raw": "" if is_folder else place.url("repository-raw", path=one.path),
    }


def _page(place: RepositoryPage, path: str, after: str = "") -> str:
    more = {"path": path} if path else {}
    return place.url("repository-folder" if path else "repository", {"after": after}, **more)


def _parts(place: RepositoryPage, path: str) -> list[tuple[str, str]]:
    """Return the folders above a path, with their pages."""
    names = path.split("/")[:-1]
    return [
        (name, place.url("repository-folder", path="/".join(names[: number + 1])))
        for number, name in enumerate(names)
    ]


def _card(place: RepositoryPage, tree: Tree, path: str) -> dict[str, Any] | None:
    """Return the README of a folder."""
    inside = f"{path}/" if path else ""
    for name in ("README.md", "Readme.md", "readme.md"):
        found = tree.find(inside + name)
        if found is not None:
            with file_store().open(place.row.org_id, found.sha256) as opened:
                text = text_of(opened.read(LONGEST_CARD))
            url = place.url("repository-file", path=found.path)
            return {"name": name, "text": text, "url": url} if text is not None else None
    return None
