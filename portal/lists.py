"""Lists: one declaration from which come a page, its CSV file, and the list of the REST API.

A `ListView` says which rows there are, how they are represented, filtered and ordered, and which
columns the page shows. The whole state of a list is in its URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from drf_spectacular.utils import OpenApiParameter

from portal.core.csv_export import csv_lines
from portal.core.errors import InvalidInput, PortalError
from portal.core.keyset import Order, Page, page_of

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise

MAX_TEXT = 300  # characters of a filter
CHUNK = 1000  # rows read at a time for a CSV file
Rows = Any  # a query set, or a list of represented rows
Item = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of the page; `name` is also the column in the CSV file and the value of `sort`.

    `css` is the class of its heading; a column whose label is None is only in the file. `value`
    returns the CSV cell of a row; by default it is `row[name]`, and None leaves the column out.
    `sort` lists the fields of its order, the last of which is unique.
    """

    name: str
    label: Text | None = ""
    css: str = ""
    value: Callable[[Item], object] | str | None = ""
    sort: tuple[str, ...] = ()

    def cell(self, row: Item) -> object:
        """Return the CSV cell; lists are joined by spaces."""
        value = self.value(row) if callable(self.value) else row.get(self.name)
        if isinstance(value, list | tuple):
            return " ".join(map(str, value))
        return value.isoformat() if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Filter:
    """A parameter that narrows the rows: `narrow(rows, text, actor)`, which may raise InvalidInput.

    `help` documents it in the API. The page shows an input if it has a `placeholder`, a menu of
    `choices(actor)`, and `chips` that set it; pairs of value and label, where the value "" removes
    the filter. A set filter without a control is shown as a chip that removes it.
    """

    name: str
    narrow: Callable[[Any, str, Any], Rows]
    help: str = ""
    label: Text = ""
    placeholder: Text = ""
    suggestions: tuple[str, ...] = ()
    choices: Callable[[Any], Sequence[tuple[str, Text]]] | None = None
    chips: tuple[tuple[str, Text], ...] = ()

    @property
    def parameter(self) -> OpenApiParameter:
        return OpenApiParameter(self.name, str, description=self.help)


@dataclass(frozen=True)
class Asked:
    """The state of a list, from the parameters of a request."""

    filters: dict[str, str]
    sort: str = ""
    cursor: str = ""
    limit: int | None = None

    @cached_property
    def kept(self) -> dict[str, str]:
        """Return the parameters that the links of the page keep."""
        found = {name: value for name, value in self.filters.items() if value}
        return found | ({"sort": self.sort} if self.sort else {})

    def url(self, **changes: str | None) -> str:
        """Return the first page's query string with some parameters changed, or removed by ""."""
        found = {name: value for name, value in (self.kept | changes).items() if value}
        return "?" + urlencode(found, safe=",")


@dataclass(frozen=True)
class ListView:
    """A list.

    `rows(actor)` returns a query set, which is paged by `order`, or without an `order` a complete
    list of represented rows. `represent(rows, actor)` returns the items that the API, the page and
    the CSV file share. `page_size` None returns all rows at once, unless a request asks for fewer.
    `row_template` renders the `<tr>` of `row`. `permission` is what the page and the API need.
    """

    name: str
    rows: Callable[[Any], Rows]
    columns: tuple[Column, ...]
    represent: Callable[[Sequence[Any], Any], list[Item]] = lambda rows, actor: list(rows)
    row_template: str = ""
    permission: Any = None
    filters: tuple[Filter, ...] = ()
    order: Order | None = None
    page_size: int | None = 50
    max_page_size: int = 200
    sorts: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sorts", {c.name: c.sort for c in self.columns if c.sort})

    # The REST API

    def parameters(self) -> list[OpenApiParameter]:
        """Return the query parameters for OpenAPI."""
        found = [f.parameter for f in self.filters]
        if self.sorts:
            names = ", ".join(self.sorts)
            found.append(OpenApiParameter("sort", str, description=f"{names}; `-` reverses."))
        if self.order is None:
            return found
        size = "all" if self.page_size is None else self.page_size
        return [
            *found,
            OpenApiParameter("cursor", str, description="From `next` or `previous`."),
            OpenApiParameter(
                "limit", int, description=f"1 to {self.max_page_size}; default {size}."
            ),
        ]

    def answer(self, actor: Any, params: Mapping[str, str]) -> dict[str, Any]:
        """Return the page as the API does. Raises InvalidInput, also for unknown parameters."""
        check_names(params, [parameter.name for parameter in self.parameters()])
        page = self.page(actor, self.read(params))
        return {"items": page.items, "next": page.next, "previous": page.previous}

    # The page

    def render(
        self, request: Any, template: str, context: Mapping[str, Any], **more: Any
    ) -> HttpResponse:
        """Render the page with `list` in its context, or the CSV file for `?format=csv`."""
        if request.method == "GET" and request.GET.get("format") == "csv":
            return self.csv(request.actor, request.GET)  # type: ignore[return-value]
        shown = context if "list" in context else {"list": self.shown(request.actor, request.GET)}
        return render(request, template, {**context, **shown}, **more)

    def shown(self, actor: Any, params: Mapping[str, str]) -> Shown:
        """Return the page for templates; invalid input is its `error`."""
        given = {n: params.get(n, "").replace("\x00", "").strip() for n in self._names}
        request, page, error = Asked(given, params.get("sort", "")), Page[Item]([]), ""
        try:
            request = self.read(params)
            page = self.page(actor, request)
        except PortalError as caught:
            error = caught.message
        return Shown(self, actor, request, page, error)

    def csv(self, actor: Any, params: Mapping[str, str]) -> StreamingHttpResponse:
        """Stream all rows that pass the filters. Raises InvalidInput before the stream starts."""
        request = self.read(params)
        columns = [c for c in self.columns if c.value is not None]
        rows, order = self.narrowed(actor, request.filters), self._order(request.sort)
        lines = csv_lines(
            [c.name for c in columns],
            ([c.cell(row) for c in columns] for row in self._all(rows, order, actor)),
        )
        return StreamingHttpResponse(
            _in_this_context(lines),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{self.name}.csv"',
                "X-Content-Type-Options": "nosniff",
            },
        )

    # Both

    def read(self, params: Mapping[str, str]) -> Asked:
        """Parse and check the parameters of a request. Raises InvalidInput."""
        found = {name: params.get(name, "").strip() for name in self._names}
        for name, text in found.items():
            if len(text) > MAX_TEXT or not text.isprintable():
                raise InvalidInput.at(
                    name,
                    f"must be at most {MAX_TEXT} characters long, without control characters",
                )
        sort = params.get("sort", "")
        if sort and sort.removeprefix("-") not in self.sorts:
            raise InvalidInput.at("sort", f"must be one of {', '.join(self.sorts) or 'none'}")
        return Asked(found, sort, params.get("cursor", ""), self._limit(params.get("limit", "")))

    def narrowed(self, actor: Any, filters: Mapping[str, str]) -> Rows:
        """Return the rows that pass the filters. Raises InvalidInput."""
        rows = self.rows(actor)
        for one in self.filters:
            if text := filters.get(one.name, "").strip():
                rows = one.narrow(rows, text, actor)
        return rows

    def page(self, actor: Any, asked: Asked) -> Page[Item]:
        """Return the represented rows of the page. Raises InvalidInput."""
        rows = self.narrowed(actor, asked.filters)
        limit = asked.limit or self.page_size
        order = self._order(asked.sort)
        if order is None:
            return Page(self.represent(rows, actor))
        if limit is None:
            sign = "-" if order.is_descending else ""
            every = list(rows.order_by(*(sign + name for name in order.fields)))
            return Page(self.represent(every, actor))
        found = page_of(rows, order, limit=limit, cursor=asked.cursor)
        return Page(self.represent(found.items, actor), found.next, found.previous)

    @property
    def _names(self) -> list[str]:
        return [f.name for f in self.filters]

    def _order(self, sort: str) -> Order | None:
        if not sort:
            return self.order
        return Order(*self.sorts[sort.removeprefix("-")], is_descending=sort.startswith("-"))

    def _limit(self, text: str) -> int | None:
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text)):
            raise InvalidInput.at("limit", f"must be a whole number from 1 to {self.max_page_size}")
        return min(int(text), self.max_page_size)

    def _all(self, rows: Rows, order: Order | None, actor: Any) -> Iterator[Item]:
        if order is None:
            yield from self.represent(rows, actor)
            return
        cursor: str | None = ""
        while cursor is not None:
            page = page_of(rows, order, limit=CHUNK, cursor=cursor)
            yield from self.represent(page.items, actor)
            cursor = page.next


@dataclass(frozen=True)
class Control:
    """A filter on the page. `chips`: label, URL, whether it is set; `rest`: the URL without it."""

    filter: Filter
    value: str
    choices: list[tuple[str, Text]]
    chips: list[tuple[Text, str, bool]]
    rest: str

    @property
    def is_input(self) -> bool:
        return bool(self.filter.placeholder)

    @property
    def is_removable(self) -> bool:
        """Return whether it is set to a value that no control shows."""
        is_shown = self.is_input or self.choices or any(is_set for *_, is_set in self.chips)
        return bool(self.value) and not is_shown


@dataclass(frozen=True)
class Head:
    """A heading. `url` sorts by the column; `direction` is set if the list is sorted by it."""

    label: Text
    css: str
    url: str = ""
    direction: str = ""


class Shown:
    """A page of a list, for templates."""

    def __init__(self, view: ListView, actor: Any, asked: Asked, page: Page[Item], error: str):
        self.view, self.asked, self.error, self.rows = view, asked, error, page.items
        self.row_template = view.row_template
        self.is_filtered = any(asked.filters.values())
        default = "-" if view.order and view.order.is_descending else ""
        self.is_descending = (asked.sort or default).startswith("-")
        self.query = asked.url()[1:]
        self.next_url = asked.url(cursor=page.next) if page.next else ""
        self.previous_url = asked.url(cursor=page.previous) if page.previous else ""
        self.here = asked.url(cursor=asked.cursor)[1:]
        self.csv_url = asked.url(format="csv")
        self.has_csv = any(column.value is not None for column in view.columns)
        self.heads = [
            self._head(column, column.label) for column in view.columns if column.label is not None
        ]
        self.controls = [self._control(one, actor) for one in view.filters]
        self.has_inputs = any(control.is_input for control in self.controls)

    @property
    def filters(self) -> dict[str, str]:
        """Return the values of the filters by name."""
        return self.asked.filters

    def _head(self, column: Column, label: Text) -> Head:
        if not column.sort:
            return Head(label, column.css)
        name, sort = column.name, self.asked.sort
        direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        following = {"": name, "ascending": f"-{name}", "descending": ""}[direction]
        return Head(label, column.css, self.asked.url(sort=following), direction)

    def _control(self, one: Filter, actor: Any) -> Control:
        value = self.asked.filters[one.name]
        chips = [
            (label, self.asked.url(**{one.name: "" if chip == value else chip}), chip == value)
            for chip, label in one.chips
        ]
        choices = list(one.choices(actor)) if one.choices else []
        return Control(one, value, choices, chips, self.asked.url(**{one.name: ""}))


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse unknown parameters. Raises InvalidInput."""
    for name in given:
        if name not in known:
            raise InvalidInput.at(name, f"is not a filter; use one of {', '.join(known) or 'none'}")


def _in_this_context(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Produce the lines in the tenant scope of the request, which ends before the response."""
    context = copy_context()
    return iter(lambda: context.run(next, lines, b""), b"")
