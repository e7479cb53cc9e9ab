"""Pages: the versions of a repository with its tags, and the comparison of two of them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from datasets import selectors, services
from datasets.models import Ref, Version
from datasets.uses import uses_of
from datasets.web.base import RepositoryPage
from datasets.web.comparing import compare as compared
from portal.core.errors import InvalidInput
from portal.core.keyset import Order, page_of
from portal.core.messages import Message
from portal.web.lineage import lineage_context
from portal.web.undo import Undo
from workspaces.web.base import action, page

PAGE = 50


@page(None, ("GET", "HEAD", "POST"))
def versions(request: Any, kind: str, repository: str) -> HttpResponse:
    """List the versions; tag one, branch from it, or restore it."""
    place = RepositoryPage(request, kind, repository)
    if request.method == "POST":
        return _act(place)
    found = page_of(
        selectors.versions_of(place.row).select_related("author", "parent"),
        Order("number", is_descending=True),
        limit=PAGE,
        cursor=request.GET.get("cursor", ""),
    )
    refs: dict[Any, list[Ref]] = {}
    for ref in selectors.refs_of(place.row):
        refs.setdefault(ref.version_id, []).append(ref)
    return render(
        request,
        "datasets/versions.html",
        place.context("versions", title=Message("Versions", context="heading"))
        | {
            "rows": [(version, refs.get(version.id, ())) for version in found.items],
            "next": found.next,
            "previous": found.previous,
            "uses": uses_of(request.actor, place.row),
        },
    )


@page(None)
def compare(request: Any, kind: str, repository: str) -> HttpResponse:
    """Compare `from` with `to`: by default the head with the version that it was made from."""
    place = RepositoryPage(request, kind, repository)
    asked = request.GET
    to = (
        selectors.find_version(place.row, asked.get("to", "")) if asked.get("to") else place.version
    )
    if to is None:
        raise InvalidInput.at("to", Message("choose a version"))
    before = selectors.find_version(place.row, asked["from"]) if asked.get("from") else to.parent
    result = compared(before, to, start=asked.get("after", ""))
    pair = {"from": str(before.number) if before else "", "to": str(to.number)}
    latest = selectors.versions_of(place.row)[: PAGE * 4]
    return render(
        request,
        "datasets/compare.html",
        place.context("versions", title=Message("Compare", context="heading"))
        | {
            "before": before,
            "after": to,
            "result": result,
            "choices": latest,
            "next": place.url("repository-compare", {**pair, "after": result.next})
            if result.next
            else "",
            "swapped": place.url("repository-compare", {"from": pair["to"], "to": pair["from"]})
            if before
            else "",
        },
    )


@page(None)
def lineage(request: Any, kind: str, repository: str) -> HttpResponse:
    """Show what the version was made from, and what was made from it."""
    place = RepositoryPage(request, kind, repository)
    found = place.version
    return render(
        request,
        "datasets/lineage.html",
        place.context("lineage", title=Message("Lineage", context="heading"))
        | {"graph": lineage_context(request, "version", found.id) if found else None},
    )


def _act(place: RepositoryPage) -> HttpResponse:
    request, row = place.request, place.row
    given, actor, here = request.POST, request.actor, place.url("repository-versions")
    do, name = given.get("do", ""), given.get("name", "").strip()
    if do == "untag":
        return _untag(place, name, here)
    version = selectors.find_version(row, given.get("version", ""))
    match do:
        case "tag":
            return action(
                request,
                here,
                Message("Version {n} is tagged {tag}.", n=version.number, tag=name),
                lambda: services.set_tag(
                    actor=actor,
                    repository=row,
                    name=name,
                    version=version,
                    may_move="may_move" in given,
                ),
                Undo(here, {"do": "untag", "name": name}),
            )
        case "branch":
            return action(
                request,
                here,
                Message("The branch {name} was created.", name=name),
                lambda: services.create_branch(
                    actor=actor, repository=row, name=name, version=version
                ),
            )
        case "restore":
            return _restore(place, version, here)
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _untag(place: RepositoryPage, name: str, here: str) -> HttpResponse:
    ref = next((one for one in selectors.refs_of(place.row) if one.name == name), None)
    number = str(ref.version.number) if ref and ref.version else ""
    return action(
        place.request,
        here,
        Message("{name} was deleted.", name=name),
        lambda: services.delete_ref(actor=place.request.actor, repository=place.row, name=name),
        Undo(
            here,
            {
                "do": "branch" if ref and ref.kind == Ref.Kind.BRANCH else "tag",
                "name": name,
                "version": number,
            },
        )
        if number
        else None,
    )


def _restore(place: RepositoryPage, version: Version, here: str) -> HttpResponse:
    """Restore a version on the branch that is shown; the undo restores the one before."""
    head = place.version
    return action(
        place.request,
        here,
        Message("The files are those of version {n} again.", n=version.number),
        lambda: services.restore_version(
            actor=place.request.actor,
            repository=place.row,
            version=version,
            branch=place.branch,
        ),
        Undo(here, {"do": "restore", "version": str(head.number)}) if head else None,
    )
