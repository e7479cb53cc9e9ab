"""Bulk actions on the runs of an experiment, and their undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from experiments import services
from experiments.lists import runs_of
from experiments.models import Experiment, Run
from experiments.run_keys import keys_of
from experiments.selectors import find_experiment
from experiments.web.views import POST
from portal.core.errors import Conflict, InvalidInput
from portal.core.messages import Message
from portal.lists import ListView
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo, offer_undo
from workspaces.access.actors import Actor
from workspaces.web.base import page

MOST_CHANGED = 2000  # runs of one action
KEPT_FOR = 3600  # seconds in which it can be undone
_MARKS = {  # verb -> what it does, and the verb that undoes it
    "archive": (services.archive_runs, "unarchive"),
    "unarchive": (services.unarchive_runs, "archive"),
    "delete": (services.delete_runs, "restore"),
    "restore": (services.restore_runs, "delete"),
}
_DONE = {
    "archive": (Message("{n} run is archived."), Message("{n} runs are archived.")),
    "unarchive": (Message("{n} run is active again."), Message("{n} runs are active again.")),
    "delete": (Message("{n} run is in the trash."), Message("{n} runs are in the trash.")),
    "restore": (Message("{n} run is restored."), Message("{n} runs are restored.")),
    "tag": (Message("{n} run is tagged."), Message("{n} runs are tagged.")),
    "retag": (
        Message("The tag of {n} run is as before."),
        Message("The tags of {n} runs are as before."),
    ),
}
_VERBS = ("archive", "unarchive", "delete", "restore", "tag", "undo")


@dataclass(frozen=True)
class Change:
    """A bulk change. Of tags, `values` has the value of each run, None where it has none."""

    verb: str
    runs: list[UUID]
    key: str = ""
    values: Mapping[UUID, str | None] = field(default_factory=dict)


@page(None, POST)
def act_on_runs(request: Any, number: str) -> HttpResponse:
    """Tag, archive or delete the selected runs or all that match; then redirect back.

    What undoes it stays in the cache, because it can be too much for a form.
    """
    row, verb = find_experiment(request.actor, number), request.POST.get("verb", "")
    if verb not in _VERBS:
        raise InvalidInput.at(
            "verb",
            Message("must be one of {names}", context="error of a field", names=", ".join(_VERBS)),
        )
    query = request.POST.get("query", "")[:4000]
    back = f"/{request.org.slug}/experiments/{row.number}" + (f"?{query}" if query else "")
    with FormErrors(request):
        change = _kept(request, row) if verb == "undo" else _asked_for(request, row, verb, query)
        n, opposite = _apply(request.actor, row, change)
        one, many = _DONE[change.verb]
        text = Message.plural(n, one, many, n=n)
        if n:
            fields: dict[str, str | list[str]] = {"verb": "undo", "query": query}
            fields["change"] = _keep(request, row, opposite)
            offer_undo(request, text, Undo(request.path, fields))
        else:
            messages.success(request, text)
        return redirect(back)
    return redirect(back)


def matching_runs(actor: Actor, view: ListView, filters: Mapping[str, str]) -> QuerySet[Run]:
    """Return the runs that pass the filters, at most one more than an action may change."""
    return view.narrowed(actor, filters).order_by()[: MOST_CHANGED + 1]  # type: ignore[no-any-return]


def parsed_ids(texts: Iterable[str]) -> list[UUID]:
    """Return the ids of runs in their order, without texts that are none."""
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def _asked_for(request: Any, row: Experiment, verb: str, query: str) -> Change:
    given = request.POST
    if given.get("all") == "1":
        params = QueryDict(query)
        keys = keys_of(Run.objects.filter(experiment=row, deleted_at=None))
        view = runs_of(row, keys, show=params.get("show", ""))
        filters = {name: params.get(name, "") for name in view.names}
        ids = [run.id for run in matching_runs(request.actor, view, view.read(filters).filters)]
    else:
        ids = parsed_ids(given.getlist("run"))
    if len(ids) > MOST_CHANGED:
        raise InvalidInput(
            Message("Choose at most {n} runs. A filter narrows them.", n=MOST_CHANGED)
        )
    change = Change(verb, ids)
    if verb != "tag":
        return change
    key, value = given.get("key", "").strip(), given.get("value", "").strip()
    if not key:
        raise InvalidInput.at("key", Message("Enter the name of the tag."))
    return replace(change, key=key, values=dict.fromkeys(ids, value))


def _apply(actor: Actor, row: Experiment, change: Change) -> tuple[int, Change]:
    """Make the change; return the number of runs and the change that undoes it."""
    runs = list(Run.objects.filter(experiment=row, id__in=change.runs).select_related("experiment"))
    if change.verb in _MARKS:
        act, opposite = _MARKS[change.verb]
        runs = [run for run in runs if _changes(run, change.verb)]
        return act(actor=actor, runs=runs), Change(opposite, [run.id for run in runs])
    before = services.set_run_tag(actor=actor, runs=runs, key=change.key, values=change.values)
    return len(before), Change("retag", list(before), change.key, before)


def _changes(run: Run, verb: str) -> bool:
    """Return whether a verb changes a run, so that an undo leaves the others as they are."""
    return {
        "archive": run.archived_at is None,
        "unarchive": run.archived_at is not None,
        "delete": run.deleted_at is None,
        "restore": run.deleted_at is not None,
    }[verb]


def _keep(request: Any, row: Experiment, change: Change) -> str:
    token = token_urlsafe(12)
    cache.set(_key(request, row, token), change, KEPT_FOR)
    return token


def _kept(request: Any, row: Experiment) -> Change:
    found: Change | None = cache.get(_key(request, row, request.POST.get("change", "")[:40]))
    if found is None:
        raise Conflict(Message("This can't be undone any more."), code="expired")
    return found


def _key(request: Any, row: Experiment, token: str) -> str:
    return f"runs-undo:{request.actor.user_id}:{row.id}:{token}"
