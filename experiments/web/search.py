"""Experiments and runs in the command palette."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import pgettext_lazy as pgettext

from experiments.lists import STATES
from experiments.models import RunStatus
from experiments.selectors import visible_experiments, visible_runs
from jobs.states import JOB
from portal.web.search import EACH, Hit, Query, SearchProvider
from portal.web.translation import translated


def _experiments(query: Query) -> Iterator[Hit]:
    rows = query.narrow(visible_experiments(query.actor), "name")
    for number, name, team in rows.values_list("number", "name", "team__slug"):
        yield Hit(name, f"/{query.org}/experiments/{number}", team)


def _runs(query: Query) -> Iterator[Hit]:
    rows = visible_runs(query.actor).filter(archived_at=None)
    for word in query.words:
        rows = rows.filter(name__icontains=word)
    found = rows.order_by("-started_ms", "-id")[:EACH]
    for pk, name, status, experiment in found.values_list(
        "id", "name", "status", "experiment__name"
    ):
        state = translated(JOB[STATES[RunStatus(status)]].word)
        yield Hit(name, f"/{query.org}/runs/{pk.hex}", f"{state} · {experiment}")


PROVIDERS = (
    SearchProvider(
        "experiments", pgettext("group of search results", "Experiments"), 12, _experiments
    ),
    SearchProvider("runs", pgettext("group of search results, training runs", "Runs"), 14, _runs),
)
