"""Pages of panels that each person arranges: what is shown, in which order, its links and its CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect

from billing.selectors import dashboard
from billing.selectors.dashboard import Bucket, DashboardQuery, GpuTimes
from billing.services.layouts import arranged, layout_of, save_layout
from billing.services.prices import PriceList
from portal.core.csv_export import csv_lines
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.web.transfers import attachment

Data = dict[str, Any]
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]


@dataclass(frozen=True)
class Panel:
    """A panel: its name in addresses, and how its data are made.

    `build` returns the context of the template, with `table` (header and rows of the CSV) and, if
    there are details elsewhere, `more` (address and label).
    """

    name: str
    title: Message | str
    template: str
    build: Callable[[Board], Data]
    is_wide: bool = False
    is_flush: bool = False
    has_png: bool = True
    is_for: Callable[[Board], bool] = lambda _: True

    @property
    def path(self) -> str:
        return f"billing/panels/{self.template}.html"


@dataclass
class Board:
    """What a page of panels knows: the question, and answers that several panels need."""

    request: Any
    page: str
    base: str  # "/platform" or "/atlas"
    asked: DashboardQuery
    known: Sequence[Panel]

    @property
    def is_platform(self) -> bool:
        return self.base == "/platform"

    @property
    def is_fleet(self) -> bool:
        """Return whether it shows the whole installation, with its capacity."""
        return self.asked.org is None

    @property
    def is_narrowed(self) -> bool:
        """Return whether a cluster, a pool or a GPU model was chosen, which jobs are not counted by."""
        return bool(self.asked.cluster or self.asked.pool or self.asked.gpu_class)

    @cached_property
    def prices(self) -> PriceList:
        return dashboard.prices_for(self.asked)

    @cached_property
    def times(self) -> GpuTimes:
        return dashboard.gpu_times(self.asked)

    @cached_property
    def buckets(self) -> list[Bucket]:
        return dashboard.buckets_of(self.asked, self.prices)

    @cached_property
    def shares(self) -> list[tuple[str, list[float | None]]]:
        """Return the allocated GPUs of those that had most: teams, or organizations of the fleet."""
        return dashboard.gpu_times_by(self.asked, "org" if self.is_fleet else "team", self.times)

    @cached_property
    def queue(self) -> dict[str, list[Any]]:
        return dashboard.queue_of(self.asked)

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dashboard.facts_of(self.asked)

    def url(self, path: str = "", **changes: str) -> str:
        """Return the address of this view, or of another page of the same time, with changes."""
        asked, get = self.asked, self.request.GET
        span = {"range": asked.range} if asked.range else {}
        if not asked.range:
            span = {"first": asked.days[0].isoformat(), "last": asked.days[1].isoformat()}
        query = {
            **span,
            "team": asked.team,
            "org": get.get("org", ""),
            "cluster": asked.cluster,
            "pool": asked.pool,
            "class": asked.gpu_class,
            "panels": "" if path else get.get("panels", ""),
        } | changes
        kept = {name: value for name, value in query.items() if value}
        return f"{path or self.request.path}?{urlencode(kept, safe=',')}"

    def jobs_url(self, **more: str) -> str:
        """Return the list of the jobs behind a number, "" for all organizations."""
        if self.asked.org is None:
            return ""
        query = {"team": self.asked.team, **more}
        kept = {name: value for name, value in query.items() if value}
        return f"/{self.asked.org.slug}/jobs?{urlencode(kept)}"

    @property
    def since(self) -> str:
        return self.asked.days[0].isoformat()

    @cached_property
    def _arranged(self) -> tuple[list[Panel], list[Panel]]:
        panels = {one.name: one for one in self.known if one.is_for(self)}
        given = self.request.GET.get("panels", "")[:400]
        shown, hidden = arranged(list(panels), given or layout_of(self.request.actor, self.page))
        return [panels[name] for name in shown], [panels[name] for name in hidden]

    @property
    def panels(self) -> list[dict[str, Any]]:
        """Return the panels that are shown, with their data."""
        return [
            {
                "panel": one,
                "data": one.build(self),
                "csv": self.url(**{"as": "csv"}, panel=one.name),
            }
            for one in self._arranged[0]
        ]

    @property
    def hidden(self) -> list[Panel]:
        return self._arranged[1]

    def csv(self) -> HttpResponse:
        """Return the table of the panel that the query names, else of the first. Raises NotFound."""
        name = self.request.GET.get("panel") or self.known[0].name
        panel = next((p for p in self.known if p.name == name and p.is_for(self)), None)
        if panel is None:
            raise NotFound(Message("There is no such panel."))
        header, rows = panel.build(self)["table"]
        text = b"".join(csv_lines(header, rows))
        return attachment(text, "text/csv; charset=utf-8", f"usage-{panel.name}.csv")

    def save(self) -> HttpResponse:
        """Keep the order and the hidden panels that a person has chosen."""
        save_layout(
            actor=self.request.actor,
            page=self.page,
            known=[one.name for one in self.known],
            panels=self.request.POST.get("panels", "")[:400],
        )
        return redirect(self.url(panels=""))


def bars_of(rows: Iterable[tuple[Any, float]]) -> list[Data]:
    """Return rows of a histogram: label, value, and share of the largest."""
    kept = list(rows)
    top = max((value for _, value in kept), default=0) or 1
    return [{"label": label, "value": value, "share": value / top} for label, value in kept]
