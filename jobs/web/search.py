"""Jobs in the command palette: by number, or by words of the name, newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import pgettext_lazy as pgettext

from jobs.kinds.workload_kinds import page_at
from jobs.models import Job
from jobs.selectors.jobs import visible_jobs
from jobs.states import JOB
from portal.web.search import EACH, Hit, Query, SearchProvider
from portal.web.translation import translated
from schedulers.states import State


def _jobs(query: Query) -> Iterator[Hit]:
    rows = visible_jobs(query.actor)
    if re.fullmatch(r"#?[0-9]{1,18}", query.text):
        rows = rows.filter(number=int(query.text.removeprefix("#")))
    else:
        for word in query.words:
            rows = rows.filter(name__icontains=word)
    # The names are in an index; the rows are not read until it has found them
    numbers = rows.order_by("-number").values_list("number", flat=True)[:EACH]
    found = Job.objects.filter(number__in=list(numbers)).order_by("-number")
    for job in found.values("number", "kind", "name", "state", "team__slug"):
        state = translated(JOB[State(job["state"]).label].word)
        yield Hit(
            f"#{job['number']} {job['name']}",
            page_at(query.org, job["kind"], job["number"]),
            f"{state} · {job['team__slug']}",
        )


PROVIDERS = (SearchProvider("jobs", pgettext("group of search results", "Jobs"), 10, _jobs),)
