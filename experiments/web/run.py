"""The page of one run, its curves, and changes of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from experiments import charts, services
from experiments.selectors import find_run
from experiments.services.experiments import NOTE
from experiments.web.run_page import register_url, run_context
from experiments.web.views import POST
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.undo import Undo
from workspaces.web.base import action, page


@page()
def run_page(request: Any, run: str) -> HttpResponse:
    """Show one run."""
    row = find_run(request.actor, run)
    return render(request, "experiments/run.html", run_context(request, row))


@page()
def curves(request: Any, run: str) -> HttpResponse:
    """Return the curves of a run for its charts, as the metrics of a job."""
    return JsonResponse(charts.curves_of(find_run(request.actor, run)))


@page()
def register(request: Any, run: str) -> HttpResponse:
    """Go to the form that registers a run as a model; to the run if it has no files."""
    row = find_run(request.actor, run)
    url = register_url(row)
    if not url:
        messages.error(request, Message("This run has no files to register."))
    return redirect(url or f"/{request.org.slug}/runs/{row.id.hex}")


@page(None, POST)
def act_on_run(request: Any, run: str) -> HttpResponse:
    """Rename a run, save its note or a tag, archive or delete it; then redirect back."""
    row = find_run(request.actor, run)
    actor, verb, given = request.actor, request.POST.get("verb", ""), request.POST
    back = f"/{request.org.slug}/runs/{row.id.hex}"
    table = f"/{request.org.slug}/experiments/{row.experiment.number}"
    key = given.get("key", "").strip()
    before = row.tags.get(key)
    note = given.get("note", "").replace("\r\n", "\n")
    undo = {
        "rename": Undo(request.path, {"verb": "rename", "name": row.name}),
        "note": Undo(request.path, {"verb": "note", "note": row.tags.get(NOTE, ""), "was": note}),
        "tag": Undo(
            request.path,
            {"verb": "untag", "key": key}
            if before is None
            else {"verb": "tag", "key": key, "value": before},
        ),
        "delete": Undo(f"{table}/act", {"verb": "restore", "run": row.id.hex}),
        "archive": Undo(request.path, {"verb": "unarchive"}),
        "untag": Undo(request.path, {"verb": "tag", "key": key, "value": before or ""}),
    }.get(verb)
    actions: dict[str, tuple[Message, Any]] = {
        "rename": (
            Message("The run is renamed."),
            lambda: services.update_run(actor=actor, run=row, name=given.get("name", "").strip()),
        ),
        "note": (
            Message("The note is saved."),
            lambda: services.write_note(
                actor=actor,
                run=row,
                note=note,
                was=given.get("was"),
            ),
        ),
        "tag": (
            Message("The tag is saved."),
            lambda: services.log_batch(
                actor=actor,
                run=row,
                tags={key: given.get("value", "").strip()},
            ),
        ),
        "untag": (
            Message("The tag is removed."),
            lambda: services.delete_run_tag(actor=actor, run=row, key=key),
        ),
        "archive": (
            Message("The run is archived."),
            lambda: services.archive_runs(actor=actor, runs=[row]),
        ),
        "unarchive": (
            Message("The run is active again."),
            lambda: services.unarchive_runs(actor=actor, runs=[row]),
        ),
        "delete": (
            Message("The run is in the trash."),
            lambda: services.delete_runs(actor=actor, runs=[row]),
        ),
    }
    if verb not in actions:
        raise InvalidInput.at(
            "verb",
            Message("must be one of {names}", context="error of a field", names=", ".join(actions)),
        )
    done, act = actions[verb]
    return action(request, table if verb == "delete" else back, done, act, undo)
