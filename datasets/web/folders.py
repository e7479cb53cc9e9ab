"""Pages of workspaces: lists, folders, files, sharing, settings and the trash."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from datasets.folders import access, entries, selectors, services
from datasets.folders.downloads import download_of
from datasets.folders.lists import FOLDERS, TRASH
from datasets.models import FolderInvitation, SharedFolder, Visibility
from datasets.web.base import VISIBILITIES, teams_to_write
from portal.blobs.folders import FolderEntry, checked_names
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.asset_actions import asset_actions, new_job_url
from portal.web.form_errors import FormErrors
from portal.web.previews import preview_of
from portal.web.transfers import send_file
from portal.web.undo import Undo, offer_undo
from workspaces.models import Membership, Team
from workspaces.organizations.selectors import people
from workspaces.web.base import action, local_path, page

PAGE = 200  # entries of a folder
MOST_PEOPLE = 500  # in the menu of people to invite
GIB = 1 << 30
PLURAL = Message("Workspaces", context="text, datasets")


class FolderPage:
    """A workspace and what its pages share: header, tabs and addresses."""

    def __init__(self, request: Any, name: str):
        self.request = request
        self.row: SharedFolder = selectors.find_folder(request.actor, name)
        self.tree = selectors.tree_of(self.row)

    def url(self, name: str = "workspace", path: str = "", **query: str) -> str:
        """Return the path of a page of the workspace."""
        kwargs = {"org": self.request.org.slug, "workspace": self.row.name}
        if path:
            name, kwargs["path"] = {"workspace": "workspace-folder"}.get(name, name), path
        return reverse(name, kwargs=kwargs, query={k: v for k, v in query.items() if v} or None)

    def context(self, tab: str, title: Any = None) -> dict[str, Any]:
        """Return the context of the header and the tabs."""
        row, actor, org = self.row, self.request.actor, self.request.org.slug
        above: list[Any] = [(PLURAL, reverse("workspaces", args=[org]))]
        if title is not None:
            above.append((row.name, self.url()))
        return {
            "page_title": title if title is not None else row.name,
            "crumbs": above,
            "workspace": row,
            "visibility": VISIBILITIES[Visibility(row.visibility)],
            "tab": tab,
            "may_write": access.may_write(actor, row),
            "may_manage": access.may_manage(actor, row),
            "invitations": selectors.invitations_of(row),
            "api": f"/api/v1/orgs/{org}/workspaces/{row.name}",
            "dav": self.request.build_absolute_uri(f"/dav/{org}/{row.name}/"),
            "asset_actions": asset_actions(
                self.request,
                use=new_job_url(
                    org, {"workspaces.code": row.name, "run": 'ls "$MUSTER_WORKSPACE_CODE"\n'}
                ),
                command=f"muster workspace download {shlex.quote(row.name)} .",
            ),
            "is_full": row.quota is not None and row.used_bytes >= row.quota,
        }

    def parts(self, path: str) -> list[tuple[str, str]]:
        """Return the folders above a path, with their pages."""
        names = path.split("/")[:-1]
        return [
            (name, self.url(path="/".join(names[: number + 1])))
            for number, name in enumerate(names)
        ]


@page(None, ("GET", "HEAD", "POST"))
def shared_folders(request: Any) -> HttpResponse:
    """List the workspaces; create one."""
    teams = teams_to_write(request.actor)
    if request.method == "POST":
        return _create(request, teams)
    return FOLDERS.render(
        request,
        "datasets/folders/list.html",
        {
            "page_title": PLURAL,
            "teams": teams,
            "team": request.GET.get("team", ""),
            "has_trash": selectors.visible_folders(request.actor, is_deleted=True).exists(),
            "api": f"/api/v1/orgs/{request.org.slug}/workspaces",
        },
    )


def _create(request: Any, teams: list[Team]) -> HttpResponse:
    given = request.POST
    with FormErrors(request):
        team = next((one for one in teams if one.slug == given.get("team", "")), None)
        if team is None:
            raise InvalidInput.at("team", Message("choose one", context="error of a field"))
        row = services.create_folder(
            actor=request.actor,
            team=team,
            name=given.get("name", ""),
            description=given.get("description", ""),
            visibility=given.get("visibility", Visibility.TEAM),
        )
        return redirect("workspace", org=request.org.slug, workspace=row.name)
    return redirect("workspaces", org=request.org.slug)


@page(None, ("GET", "HEAD", "POST"))
def folder(request: Any, workspace: str, path: str = "") -> HttpResponse:
    """Show a folder; make a folder in it, move and delete what is selected."""
    place = FolderPage(request, workspace)
    path = "/".join(checked_names(path))
    if request.method == "POST":
        return _change(place, path)
    after = request.GET.get("after", "")
    found = place.tree.listing(path, after, PAGE + 1)
    rows = [_item(place, one) for one in found[:PAGE]]
    if len(found) <= PAGE and not after:  # all of the folder: folders first, as people expect
        rows.sort(key=lambda one: one["kind"] != "folder")
    return render(
        request,
        "datasets/folders/folder.html",
        place.context("files", path.rpartition("/")[2] or None)
        | {
            "path": path,
            "parts": place.parts(path),
            "entries": rows,
            "next": place.url(path=path, after=found[PAGE - 1].cursor) if len(found) > PAGE else "",
            "first": place.url(path=path) if after else "",
            "usage": _usage(place),
        },
    )


@page(None)
def file(request: Any, workspace: str, path: str) -> HttpResponse:
    """Show a file."""
    place = FolderPage(request, workspace)
    entry = place.tree.entry(path)
    if entry.is_folder:
        return redirect(place.url(path=entry.path))
    if entry.kind != "file":
        raise NotFound(Message("This is a link, or no file. Links are not followed."))
    preview = preview_of(entry.path, entry.size, lambda: place.tree.open(entry.path))
    return render(
        request,
        "datasets/folders/file.html",
        place.context("files", entry.name)
        | {
            "path": entry.path,
            "above": entry.path.rpartition("/")[0],
            "parts": place.parts(entry.path),
            "entry": entry,
            "preview": preview,
            "raw": place.url("workspace-raw", entry.path),
            "shown": place.url("workspace-raw", entry.path, show="1"),
            "is_markdown": preview.kind == "text" and entry.path.lower().endswith(".md"),
        },
    )


@page(None)
def download(request: Any, workspace: str, path: str) -> Any:
    """Download a file; with `show`, images and sounds are shown in the page."""
    place = FolderPage(request, workspace)
    return send_file(request, download_of(place.row, path, is_shown=bool(request.GET.get("show"))))


@page(None, ("GET", "HEAD", "POST"))
def upload(request: Any, workspace: str) -> HttpResponse:
    """Upload files. `dataset-upload.js` sends them to the API; without it, a form of few files."""
    place = FolderPage(request, workspace)
    given = request.POST if request.method == "POST" else request.GET
    path = "/".join(checked_names(given.get("folder", "").strip()))
    if request.method == "POST":
        files = request.FILES.getlist("files")
        done = Message.plural(
            len(files), "{n} file was uploaded.", "{n} files were uploaded.", n=len(files)
        )
        return action(request, place.url(path=path), done, lambda: _store(place, path, files))
    context = place.context("files", Message("Upload", context="page title")) | {"path": path}
    return render(request, "datasets/folders/upload.html", context)


def _store(place: FolderPage, folder: str, files: list[Any]) -> None:
    if not files:
        raise InvalidInput.at("files", Message("choose at least one file"))
    for one in files:
        entries.put_file(
            actor=place.request.actor,
            folder=place.row,
            path=f"{folder}/{one.name}" if folder else one.name,
            chunks=one.chunks(),
            size=one.size,
        )


def _change(place: FolderPage, path: str) -> HttpResponse:
    """Do what a form of a folder's page says; `path` is that folder."""
    given, here = place.request.POST, place.url(path=path)
    about = {"actor": place.request.actor, "folder": place.row}
    chosen = given.getlist("path")
    match given.get("do", ""):
        case "folder":
            name = given.get("name", "").strip().strip("/")
            made = f"{path}/{name}" if path else name

            def make() -> None:
                if not name:
                    raise InvalidInput.at(
                        "name", Message("is required", context="error of a field")
                    )
                entries.make_folder(**about, path=made)

            done = Message("The folder {name} was created.", name=name)
            return action(place.request, here, done, make)
        case "delete" if chosen:
            names = {"n": len(chosen), "path": chosen[0].rpartition("/")[2]}
            done = Message.plural(
                len(chosen), "{path} was deleted.", "{n} files and folders were deleted.", **names
            )
            return action(place.request, here, done, lambda: entries.delete(**about, paths=chosen))
        case "move" if chosen:
            target = given.get("target", "").strip().strip("/")
            done = Message("Moved to {path}.", path=target)
            above = target.rpartition("/")[0]
            undo = Undo(here, {"do": "move", "path": target, "target": chosen[0]})
            return action(
                place.request,
                place.url(path=above),
                done,
                lambda: entries.move(**about, source=chosen[0], target=target),
                undo,
                refused=here,
            )
    raise InvalidInput.at("path", Message("choose one", context="error of a field"))


@page(None, ("GET", "HEAD", "POST"))
def share(request: Any, workspace: str) -> HttpResponse:
    """Show who is invited; invite people and teams, and withdraw invitations."""
    place = FolderPage(request, workspace)
    access.check_may_manage(request.actor, place.row)
    if request.method == "POST":
        return _invite(place)
    context = place.context("share", Message("Share", context="page title, give access"))
    invited = context["invitations"]
    teams = {one.team_id for one in invited if one.team_id} | {place.row.team_id}
    users = {one.user_id for one in invited if one.user_id} | {place.row.owner_id}
    return render(
        request,
        "datasets/folders/share.html",
        context
        | {
            "teams": Team.objects.exclude(id__in=teams).order_by("slug"),
            "people": people()
            .exclude(user_id__in=users)
            .select_related("user")
            .order_by("user__email")[:MOST_PEOPLE],
        },
    )


def _invite(place: FolderPage) -> HttpResponse:
    given, here = place.request.POST, place.url("workspace-share")
    after = local_path(given.get("back", ""), here)  # the page that shows this one in a drawer
    whom, _colon, name = given.get("with", "").partition(":")
    is_team = whom == "team"

    def invite() -> None:
        services.invite(
            actor=place.request.actor,
            folder=place.row,
            team=_team(name) if is_team else None,
            user=None if is_team else _person(name),
            can_write=given.get("can_write") == "1",
        )

    if given.get("do") != "withdraw":
        done = Message("Shared with {name}.", name=name)
        return action(place.request, after, done, invite)
    row = _invitation(place.row, whom, name)
    back: dict[str, str | list[str]] = {
        "with": f"{whom}:{name}",
        "can_write": "1" if row.can_write else "0",
        "back": after,
    }
    return action(
        place.request,
        after,
        Message("No longer shared with {name}.", name=name),
        lambda: services.withdraw(actor=place.request.actor, folder=place.row, invitation=row),
        Undo(here, back),
    )


def _invitation(folder: SharedFolder, whom: str, name: str) -> FolderInvitation:
    field = "team__slug" if whom == "team" else "user__email"
    row = folder.invitations.filter(**{field: name}).select_related("team", "user").first()
    if row is None:
        raise InvalidInput.at("with", Message("choose one", context="error of a field"))
    return row  # type: ignore[no-any-return]


def _team(slug: str) -> Team:
    row = Team.objects.filter(slug=slug).first()
    if row is None:
        raise InvalidInput.at("with", Message("choose one", context="error of a field"))
    return row  # type: ignore[no-any-return]


def _person(email: str) -> Any:
    row = Membership.objects.filter(user__email=email).select_related("user").first()
    if row is None:
        raise InvalidInput.at("with", Message("choose one", context="error of a field"))
    return row.user


@page(None, ("GET", "HEAD", "POST"))
def settings(request: Any, workspace: str) -> HttpResponse:
    """Show and change the settings."""
    place = FolderPage(request, workspace)
    access.check_may_manage(request.actor, place.row)
    if request.method == "POST":
        return _delete(place) if request.POST.get("do") == "delete" else _save(place)
    quota = place.row.quota
    return render(
        request,
        "datasets/folders/settings.html",
        place.context("settings", Message("Settings", context="text, datasets"))
        | {
            "quota_gib": f"{quota / GIB:.6g}" if quota else "",
            "days": django_settings.MUSTER_TRASH_DAYS,
        },
    )


def _save(place: FolderPage) -> HttpResponse:
    request, given = place.request, place.request.POST
    wanted: dict[str, Any] = {
        name: given[name] for name in ("name", "description", "visibility") if name in given
    }
    with FormErrors(request):
        if "quota_gib" in given:
            wanted["quota"] = _bytes(given["quota_gib"])
        place.row = services.update_folder(actor=request.actor, folder=place.row, **wanted)
        messages.success(request, Message("The settings were saved."))
    return redirect(place.url("workspace-settings"))


def _bytes(gib: str) -> int | None:
    try:
        return int(float(gib) * GIB) if gib.strip() else None
    except (ValueError, OverflowError):
        raise InvalidInput.at("quota_gib", Message("must be a number")) from None


def _delete(place: FolderPage) -> HttpResponse:
    request, row = place.request, place.row
    with FormErrors(request):
        services.delete_folder(actor=request.actor, folder=row)
        trash_page = reverse("workspaces-trash", args=[request.org.slug])
        offer_undo(
            request,
            Message("{name} was moved to the trash.", name=row.name),
            Undo(trash_page, {"do": "restore", "workspace": str(row.id)}),
        )
        return redirect("workspaces", org=request.org.slug)
    return redirect(place.url("workspace-settings"))


@page(None, ("GET", "HEAD", "POST"))
def trash(request: Any) -> HttpResponse:
    """List what was deleted; restore it, or delete it permanently."""
    if request.method == "POST":
        return _act_on_deleted(request)
    listed = reverse("workspaces", args=[request.org.slug])
    rows = selectors.visible_folders(request.actor, is_deleted=True)
    return TRASH.render(
        request,
        "datasets/folders/trash.html",
        {
            "page_title": Message("Trash", context="page title"),
            "crumbs": [(PLURAL, listed)],
            "back": listed,
            "manageable": {
                str(row.id) for row in rows[:200] if access.may_manage(request.actor, row)
            },
            "days": django_settings.MUSTER_TRASH_DAYS,
        },
    )


def _act_on_deleted(request: Any) -> HttpResponse:
    try:
        row = selectors.find_deleted(request.actor, UUID(request.POST.get("workspace", "")))
    except ValueError:
        raise InvalidInput.at(
            "workspace", Message("choose one", context="error of a field")
        ) from None
    acts: dict[str, tuple[str, Message, Callable[..., Any]]] = {
        "restore": (
            reverse("workspace", args=[request.org.slug, row.name]),
            Message("{name} was restored.", name=row.name),
            services.restore_folder,
        ),
        "purge": (
            request.path,
            Message("{name} was deleted permanently.", name=row.name),
            services.purge_folder,
        ),
    }
    if (do := request.POST.get("do", "")) not in acts:
        raise InvalidInput(Message("The form names nothing that can be done here."))
    back, done, act = acts[do]
    return action(
        request, back, done, lambda: act(actor=request.actor, folder=row), refused=request.path
    )


def _item(place: FolderPage, entry: FolderEntry) -> dict[str, Any]:
    is_file = entry.kind == "file" and entry.is_nameable
    url = ""
    if is_file:
        url = place.url("workspace-file", entry.path)
    elif entry.is_folder and entry.is_nameable:
        url = place.url(path=entry.path)
    return {
        "path": entry.path if entry.is_nameable else "",
        "name": entry.shown_name,
        "kind": entry.kind,
        "size": entry.size if entry.kind == "file" else None,
        "modified_at": entry.modified_at,
        "url": url,
        "raw": place.url("workspace-raw", entry.path) if is_file else "",
    }


def _usage(place: FolderPage) -> dict[str, str]:
    """Return how a job and programs on a computer use it."""
    name = shlex.quote(place.row.name)
    return {
        "spec": f"workspaces:\n  code: {place.row.name}",
        "upload": f"muster workspace upload ./src {name}\n"
        f"muster run --workspace code={name} -- 'ls $MUSTER_WORKSPACE_CODE'",
    }
