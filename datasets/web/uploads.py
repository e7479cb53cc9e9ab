"""Page: upload files. `dataset-upload.js` sends them to the API; without it, a form of few files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from datasets import services
from datasets.models import Version
from datasets.services import Add
from datasets.web.base import RepositoryPage
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.web.base import page


@page(None, ("GET", "HEAD", "POST"))
def upload(request: Any, kind: str, repository: str) -> HttpResponse:
    """Upload files to a branch."""
    place = RepositoryPage(request, kind, repository)
    if request.method == "POST":
        with FormErrors(request):
            made = _commit(place)
            messages.success(request, Message("This is version {n}.", n=made.number))
            return redirect(place.url())
        return redirect(place.url("repository-upload"))
    return render(
        request,
        "datasets/upload.html",
        place.context("files", title=Message("Upload", context="heading"))
        | {
            "folder": request.GET.get("folder", ""),
            "parent": place.version.commit if place.version else "",
            "target": place.branch or place.row.default_branch,
        },
    )


def _commit(place: RepositoryPage) -> Version:
    """Store the files of the form and commit them to the folder that it names."""
    request, actor = place.request, place.request.actor
    files = request.FILES.getlist("files")
    if not files:
        raise InvalidInput.at("files", Message("choose at least one file"))
    folder = request.POST.get("folder", "").strip().strip("/")
    changes = []
    for file in files:
        stored = services.put_file(
            actor=actor, repository=place.row, chunks=file.chunks(), size=file.size
        )
        changes.append(Add(f"{folder}/{file.name}" if folder else file.name, stored.sha256))
    number = len(files)
    what = Message.plural(
        number,
        "Upload {name}",
        "Upload {n} files",
        context="number of things",
        n=number,
        name=files[0].name,
    )
    return services.commit(
        actor=actor,
        repository=place.row,
        changes=changes,
        message=request.POST.get("message", "").strip() or str(what),
        branch=place.revision,
    )
