"""Lists: one declaration from which come a page, its CSV file, and the list of the REST API.

A `ListView` says which rows there are, how they are represented, filtered and ordered, and which
columns the page shows. The whole state of a list is in its URL; the search box of its page takes
the text language of `portal.list_language`, which says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext
from drf_spectacular.utils import OpenApiParameter

from portal import list_language
from portal.core.csv_export import csv_lines
from portal.core.errors import InvalidInput, PortalError
from portal.core.keyset import Order, Page, page_of
from portal.core.messages import Message
from portal.core.shapes import PageShape
from portal.core.times import instant, period
from portal.list_language import Term, Value

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise

MAX_TEXT = 300  # characters of a filter
MAX_EXPRESSION = 2000  # of one in another language
CHUNK = 1000  # rows read at a time for a CSV file
COUNTED = 1000  # a chip counts fewer rows than this
PAGE_SIZES = (25, 50, 100, 200)
SEARCH = "q"  # the filter of the words that have no key
PERIOD = ("on", "since", "until")  # filters that one menu sets
MAX_VALUES = 200  # of a menu
LONG = 8  # rows that are filtered rather than read
FEW = 20  # values that are counted one by one
COOKIE = "muster_columns_"  # a cookie per list keeps the columns that a person chose
Rows = Any  # a query set, or a list of represented rows
Item = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of the page; `name` is also the column in the CSV file and the value of `sort`.

    `css` is the class of its heading; a column whose label is None is only in the file, together
    with the one before it. `value`
    returns the CSV cell of a row; by default it is `row[name]`, and None leaves the column out.
    `sort` lists the fields of its order, the last of which is unique. A reader can hide an
    `is_optional` column; one that `is_extra` is optional and hidden at first. The row template
    renders these cells only if `list.has.NAME`. The chooser shows columns of a `group` together.
    A column with `seen_by(actor)`, the names that an actor sees, is neither on the page nor in the
    file of those who do not see its `name`.
    """

    name: str
    label: Text | None = ""
    css: str = ""
    value: Callable[[Item], object] | str | None = ""
    sort: tuple[str, ...] = ()
    is_optional: bool = False
    is_extra: bool = False
    group: Text = ""
    seen_by: Callable[[Any], Collection[str]] | None = None

    @property
    def is_choosable(self) -> bool:
        return self.is_optional or self.is_extra

    def cell(self, row: Item) -> object:
        """Return the CSV cell; lists are joined by spaces."""
        value = self.value(row) if callable(self.value) else row.get(self.name)
        if isinstance(value, list | tuple):
            return " ".join(map(str, value))
        return value.isoformat() if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Filter:
    """A parameter that narrows the rows: `narrow(rows, text, actor)`, which may raise InvalidInput.

    `help` documents it in the API and in the search box. In the text language its key is `key`,
    else its name; it also takes `aliases`. `values(actor)` are pairs of value and label, which the
    search box suggests. They and the values of `field` are in a menu, which counts them when it is
    opened. `chips` are links that set the filter; where the value is "", it removes the filter.
    Chips of one that `is_counted` show how many rows they have. A filter that `is_multiple` takes
    several values (`matching`), which chips and menus combine. Nothing is counted beside a filter
    that `is_search`, because it tests many rows. One that `is_period` stands for `since` and
    `until`, too: its menu has days and a range. An `is_expression` filter is a text of another
    language, which fills the search box; `?format=terms` suggests for it. The `placeholder` is
    that of the search box.
    """

    name: str
    narrow: Callable[[Any, str, Any], Rows]
    help: str = ""
    label: Text = ""
    placeholder: Text = ""
    chips: tuple[tuple[str, Text], ...] = ()
    is_multiple: bool = False
    is_counted: bool = False
    is_search: bool = False
    key: str = ""
    aliases: tuple[str, ...] = ()
    values: Callable[[Any], Sequence[tuple[str, Text]]] | None = None
    field: str = ""
    is_period: bool = False
    is_expression: bool = False

    @property
    def has_menu(self) -> bool:
        """Return whether it has a menu: its values are neither all shown as chips nor unknown."""
        if self.name in PERIOD:
            return self.is_period
        return bool(self.field) or (self.values is not None and not self.is_whole)

    @property
    def is_whole(self) -> bool:
        """Return whether its chips are all that one chooses from: one of them removes it."""
        return any(not value for value, _label in self.chips)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return its keys in the text language, the one that is written first."""
        return tuple(dict.fromkeys((self.text_key, self.name, *self.aliases)))

    @property
    def text_key(self) -> str:
        """Return the key in the text language; words without a key are the search."""
        return "" if self.name == SEARCH else self.key or self.name

    def terms(self, text: str) -> list[Term]:
        """Return the parameter as terms of the text language."""
        if self.name == SEARCH:
            return [Term("", (w.text,), w.is_negative) for w in list_language.words(text)]
        if not self.is_multiple:
            return [Term(self.text_key, (text,))]
        found = list_language.values(text)
        sides = [(no, tuple(v.text for v in found if v.is_negative is no)) for no in (False, True)]
        return [Term(self.text_key, texts, no) for no, texts in sides if texts]

    def toggled(self, text: str, chip: str) -> str:
        """Return the parameter after a click on a chip."""
        if not self.is_multiple or not chip:
            return "" if chip == text else chip
        wanted, found = list_language.values(chip), list_language.values(text)
        rest = [v for v in found if all(v.text != one.text for one in wanted)]
        return list_language.written_values(rest if self.is_set(text, chip) else rest + wanted)

    def is_set(self, text: str, chip: str) -> bool:
        """Return whether the parameter has all values of a chip."""
        if not self.is_multiple or not chip:
            return chip == text
        return set(list_language.values(chip)) <= set(list_language.values(text))

    @property
    def parameter(self) -> OpenApiParameter:
        return OpenApiParameter(self.name, str, description=self.help)


@dataclass(frozen=True)
class ListQuery:
    """The state of a list, from the parameters of a request."""

    filters: dict[str, str]
    sort: str = ""
    cursor: str = ""
    limit: int | None = None
    columns: str = ""
    others: dict[str, str] = field(default_factory=dict)

    @cached_property
    def kept(self) -> dict[str, str]:
        """Return the parameters that the links of the page keep."""
        view = {"sort": self.sort, "columns": self.columns, "limit": str(self.limit or "")}
        given = self.others | self.filters | view
        return {name: value for name, value in given.items() if value}

    def url(self, **changes: str | None) -> str:
        """Return the first page's query string with some parameters changed, or removed by ""."""
        found = {name: value for name, value in (self.kept | changes).items() if value}
        return "?" + urlencode(found, safe=",:!@")


@dataclass(frozen=True)
class ListView:
    """A list.

    `rows(actor)` returns a query set, which is paged by `order`, or without an `order` a complete
    list of represented rows. `represent(rows, actor)` returns the items that the API, the page and
    the CSV file share. `page_size` None returns all rows at once, unless a request asks for fewer.
    `row_template` renders the `<tr>` of `row`. `permission` is what the page and the API need.
    Each page of an `is_local` list has columns of its own, such as those of one experiment. Links
    and forms of the page keep the parameters `others`, which are not the list's.
    """

    name: str
    rows: Callable[[Any], Rows]
    columns: tuple[Column, ...]
    represent: Callable[[Sequence[Any], Any], list[Any]] = lambda rows, actor: list(rows)
    row_template: str = ""
    permission: Any = None
    filters: tuple[Filter, ...] = ()
    order: Order | None = None
    page_size: int | None = 50
    max_page_size: int = 200
    is_local: bool = False
    others: tuple[str, ...] = ()
    sorts: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sorts", {c.name: c.sort for c in self.columns if c.sort})

    # The REST API

    def parameters(self) -> list[OpenApiParameter]:
        """Return the query parameters for OpenAPI."""
        found = [f.parameter for f in self.filters]
        if found:
            keys = ", ".join(f.text_key for f in self.filters if f.text_key)
            described = f"The filters as a text, such as `state:failed user:kim`. Keys: {keys}."
            found.append(OpenApiParameter("query", str, description=described))
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

    def answer(self, actor: Any, params: Mapping[str, str]) -> PageShape[Any]:
        """Return the page as the API does. Raises InvalidInput, also for unknown parameters."""
        check_names(params, [parameter.name for parameter in self.parameters()])
        page = self.page(actor, self.read(self._with_query(params)))
        return {"items": page.items, "next": page.next, "previous": page.previous}

    def _with_query(self, params: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters with what the text `query` means. Raises InvalidInput."""
        found = {name: params[name] for name in params if name != "query"}
        parsed = self.parsed(params.get("query", ""))
        for one in parsed.problems:
            fix = Message("Write {text}.", context="text, portal", text=one.fix) if one.fix else ""
            raise InvalidInput.at("query", Message.joined(" ", (one.text, fix)))
        for name, value in parsed.filters.items():
            if found.get(name):
                raise InvalidInput.at("query", Message("“{key}” is a parameter, too.", key=name))
            found[name] = value
        return found

    # The page

    def render(
        self, request: Any, template: str, context: Mapping[str, Any], **more: Any
    ) -> HttpResponse:
        """Render the page with `list` in its context, or what `answered` returns."""
        if other := self.answered(request):
            return other
        if "list" not in context:
            shown = self.shown(request.actor, request.GET, request.COOKIES)
            context = {**context, "list": shown}
        return render(request, template, dict(context), **more)

    def answered(self, request: Any) -> HttpResponse | None:
        """Return the answer to a request for something else than the page.

        `?format=csv` is the file, `?format=keys` what the search box suggests, and `?format=values`
        the menu of `filter`. `?query=` is a text of the language; it redirects to the parameters
        that it means, unless it has unknown keys.
        """
        if request.method not in ("GET", "HEAD"):
            return None
        query = request.GET.get("query")
        match request.GET.get("format"):
            case "csv":
                return self.csv(request.actor, request.GET)  # type: ignore[return-value]
            case "keys":
                return JsonResponse({"keys": self.keys(request.actor)})
            case "values":
                return JsonResponse({"items": self._menu(request)})
        if query is None or (parsed := self.parsed(query)).problems:
            return None
        asked = self._asked(request.GET, request.COOKIES, parsed.filters)
        return HttpResponseRedirect(request.path + asked.url().rstrip("?"))

    def shown(
        self, actor: Any, params: Mapping[str, str], cookies: Mapping[str, str] | None = None
    ) -> Shown:
        """Return the page for templates. What is wrong is left out, and one of its `problems`."""
        parsed = self.parsed(params["query"]) if "query" in params else None
        plain = {name: params[name] for name in params} | (parsed.filters if parsed else {})
        problems = list(parsed.problems) if parsed else []
        given = self._asked(params, cookies or {}, plain)
        text = parsed.text if parsed else self.text(given.filters)
        asked, page, error = given, Page[Item]([]), ""
        if given.sort and given.sort.removeprefix("-") not in self.sorts:
            problems.append(
                Problem(
                    Message(
                        "There is no column “{name}” to sort by. The default order is shown.",
                        name=given.sort.removeprefix("-")[:80],
                    )
                )
            )
            asked = replace(asked, sort="")
        try:
            rows, wrong = self._tried(actor, asked.filters)
            problems += [self._explained(actor, asked, one, why) for one, why in wrong]
            asked = replace(
                asked,
                filters=asked.filters | {one.name: "" for one, _why in wrong},
                cursor="" if asked.sort != given.sort else params.get("cursor", ""),
                limit=self._limit(params.get("limit", "")),
            )
            page = self._page_of(rows, asked, actor)
        except PortalError as caught:
            error = caught.message
        return Shown(self, actor, asked, page, error, text, problems)

    def _tried(
        self, actor: Any, filters: Mapping[str, str]
    ) -> tuple[Rows, list[tuple[Filter, Message]]]:
        """Return the rows that pass the filters, and the filters that are wrong with the reason."""
        wrong: list[tuple[Filter, Message]] = []
        rows = self.rows(actor)
        for one in self.filters:
            try:
                if text := filters[one.name]:
                    _check_text(one, text)
                    rows = one.narrow(rows, text, actor)
            except InvalidInput as error:
                errors = error.data["errors"]
                wrong.append((one, errors[0]["message"] if errors else error.message))
        return rows, wrong

    def csv(self, actor: Any, params: Mapping[str, str]) -> StreamingHttpResponse:
        """Stream all rows that pass the filters. Raises InvalidInput before the stream starts.

        The file has the columns that `columns` names, else all.
        """
        request = self.read(params)
        chosen = self._in_file(self._columns_of(params), self.columns_for(actor))
        columns = [c for c in chosen if c.value is not None]
        rows, order = self.narrowed(actor, request.filters), self._order(request.sort)
        lines = csv_lines(
            [c.name for c in columns],
            ([c.cell(row) for c in columns] for row in self._all(rows, order, actor)),
        )
        return StreamingHttpResponse(
            in_this_context(lines),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{self.name}.csv"',
                "X-Content-Type-Options": "nosniff",
            },
        )

    # The text language

    def parsed(self, text: str) -> Parsed:
        """Return the filters that a text of the language means, and what it says in vain."""
        by_key: dict[str, Filter | None] = {
            key: one for one in self.filters for key in one.keys if one.name != SEARCH
        }
        by_key[""] = next((one for one in self.filters if one.name == SEARCH), None)
        found: dict[str, list[Value]] = {}
        single: dict[str, str] = {}
        problems: list[Problem] = []
        terms = list_language.parse(text[:MAX_TEXT])
        for i, (key, texts, is_negative) in enumerate(terms):
            one = by_key.get(key)
            if one is None:
                problems.append(self._unknown(terms, i))
            elif one.name == SEARCH or one.is_multiple:
                found.setdefault(one.name, []).extend(Value(v, is_negative) for v in texts)
            elif is_negative:
                message = Message("“{key}” can’t be excluded with “-”.", key=key)
                problems.append(_fixed(terms, i, Term(key, texts), message))
            else:
                single[one.name] = ",".join(texts)
        searched = list_language.written_words(found.pop(SEARCH, ()))
        several = {name: list_language.written_values(v) for name, v in found.items()}
        filters = single | several | ({SEARCH: searched} if searched else {})
        return Parsed(text[:MAX_TEXT], filters, problems)

    def text(self, filters: Mapping[str, str]) -> str:
        """Return the filters as a text of the language."""
        given = [(one, filters.get(one.name, "")) for one in self.filters]
        terms = [term for one, text in given if text for term in one.terms(text)]
        return list_language.written(sorted(terms, key=lambda term: not term.key))

    def keys(self, actor: Any) -> list[dict[str, Any]]:
        """Return the keys of the language with the values to suggest."""
        return [
            {
                "key": one.text_key,
                "aliases": one.keys[1:],
                "help": str(one.label or one.help),
                "is_multiple": one.is_multiple,
                "values": [[v, str(label)] for v, label in self._values(one, actor) if v],
            }
            for one in self.filters
            if one.text_key and not one.is_expression
        ]

    def _values(self, one: Filter, actor: Any) -> Sequence[tuple[str, Text]]:
        if one.values:
            return one.values(actor)
        return [(value, label) for value, label in one.chips if "," not in value]

    def _menu(self, request: Any) -> list[dict[str, Any]]:
        """Return the entries of the menu of a filter: those that have rows first."""
        asked, actor = self._asked(request.GET, request.COOKIES, request.GET), request.actor
        one = next((f for f in self.filters if f.name == request.GET.get("filter")), None)
        if one is None or not one.has_menu:
            raise InvalidInput.at("filter", Message("is not a filter with a menu"))
        labels = {value: label for value, label in self._values(one, actor) if value}
        rows, _wrong = self._tried(actor, asked.filters | {one.name: ""})
        counts = _counted(one, rows, list(labels), actor)
        value = asked.filters[one.name]
        items = [
            {
                "label": (label := str(labels.get(name) or name)),
                "note": "" if name.lower() in label.lower() or not one.field else name,
                "url": asked.url(**{one.name: one.toggled(value, _written(one, name))}),
                "is_set": one.is_set(value, _written(one, name)),
                "count": None if counts is None else counts.get(name, 0),
            }
            for name in {**labels, **(counts or {})}
            if name != "me" or not one.field  # it is one of the others
        ]
        return sorted(items, key=lambda item: (not item["is_set"], -(item["count"] or 0)))

    def _unknown(self, terms: list[Term], i: int) -> Problem:
        """Explain an unknown key: another that is like it, or else a text."""
        key, texts, is_negative = terms[i]
        keys = [name for one in self.filters for name in one.keys if name and name != SEARCH]
        if close := get_close_matches(key, keys, 1):
            message = Message("There is no filter “{key}”.", key=key[:40])
            return _fixed(terms, i, Term(close[0], texts, is_negative), message)
        known = ", ".join(one.text_key for one in self.filters if one.text_key)
        message = Message(
            "There is no filter “{key}”. There are: {keys}.", key=key[:40], keys=known
        )
        if SEARCH not in self.names:
            return Problem(message)
        return _fixed(terms, i, Term("", (f"{key}:{','.join(texts)}",), is_negative), message)

    def _explained(self, actor: Any, asked: ListQuery, one: Filter, why: Message) -> Problem:
        """Explain a wrong value: one that is like it, or the list without the filter."""
        text = asked.filters[one.name]
        known = {
            str(name).lower(): v for v, label in self._values(one, actor) for name in (v, label)
        }
        for given in list_language.values(text) if one.is_multiple else [Value(text)]:
            close = get_close_matches(given.text.lower(), list(known), 1)
            if close and close[0] != given.text.lower():
                value = _written(one, known[close[0]])
                fixed = text.replace(given.text, value)
                return Problem(why, f"{one.text_key}:{value}", asked.url(**{one.name: fixed}))
        return Problem(why, _("Remove the filter"), asked.url(**{one.name: ""}))

    # Both

    def read(self, params: Mapping[str, str]) -> ListQuery:
        """Parse and check the parameters of a request. Raises InvalidInput."""
        found = {name: params.get(name, "").strip() for name in self.names}
        for one in self.filters:
            _check_text(one, found[one.name])
        sort = params.get("sort", "")
        if sort and sort.removeprefix("-") not in self.sorts:
            raise InvalidInput.at("sort", f"must be one of {', '.join(self.sorts) or 'none'}")
        return ListQuery(
            found, sort, params.get("cursor", ""), self._limit(params.get("limit", ""))
        )

    def narrowed(self, actor: Any, filters: Mapping[str, str]) -> Rows:
        """Return the rows that pass the filters. Raises InvalidInput."""
        rows = self.rows(actor)
        for one in self.filters:
            if text := filters.get(one.name, "").strip():
                rows = one.narrow(rows, text, actor)
        return rows

    def page(self, actor: Any, asked: ListQuery) -> Page[Item]:
        """Return the represented rows of the page. Raises InvalidInput."""
        return self._page_of(self.narrowed(actor, asked.filters), asked, actor)

    def _page_of(self, rows: Rows, asked: ListQuery, actor: Any) -> Page[Item]:
        limit = asked.limit or self.page_size
        order = self._order(asked.sort)
        if order is None:
            return Page(self.represent(rows, actor))
        if limit is None:
            sign = "-" if order.is_descending else ""
            every = list(rows.order_by(*(sign + name for name in order.fields)))
            return Page(self.represent(every, actor))
        found = page_of(
            rows, order, limit=limit, cursor=asked.cursor, is_searched=self.is_searched(asked)
        )
        return Page(self.represent(found.items, actor), found.next, found.previous)

    def first_rows(self, actor: Any, asked: ListQuery, limit: int) -> list[Any]:
        """Return the first rows in the order asked for, as `rows` has them. Raises InvalidInput."""
        rows, order = self.narrowed(actor, asked.filters), self._order(asked.sort)
        if order is None:
            return list(rows[:limit])
        sign = "-" if order.is_descending else ""
        return list(rows.order_by(*(sign + name for name in order.fields))[:limit])

    def is_searched(self, asked: ListQuery) -> bool:
        """Return whether the rows are narrowed by a filter that tests many of them."""
        return any(one.is_search and asked.filters.get(one.name) for one in self.filters)

    @property
    def names(self) -> list[str]:
        return [f.name for f in self.filters]

    def _asked(
        self, params: Mapping[str, str], cookies: Mapping[str, str], filters: Mapping[str, str]
    ) -> ListQuery:
        """Return the state of the page without checks; the cookie has the columns by default."""
        given = {n: filters.get(n, "").replace("\x00", "").strip() for n in self.names}
        chosen = self._columns_of(params) or self._columns_of(
            {"columns": cookies.get(COOKIE + self.name, "")}
        )
        default = {c.name for c in self.columns if c.is_optional}
        columns = (
            ",".join(c.name for c in self.columns if c.name in chosen) if chosen != default else ""
        )
        limit = params.get("limit", "")
        size = int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 6 else None
        others = {name: params.get(name, "").replace("\x00", "") for name in self.others}
        sort = params.get("sort", "")
        return ListQuery(given, sort, limit=size, columns=columns, others=others)

    def columns_for(self, actor: Any) -> list[Column]:
        """Return the columns that the actor may see."""
        seen = {by: by(actor) for by in {c.seen_by for c in self.columns} if by}
        return [c for c in self.columns if c.seen_by is None or c.name in seen[c.seen_by]]

    def _in_file(self, chosen: set[str], columns: Iterable[Column]) -> Iterator[Column]:
        """Yield the columns of a file; one without a label goes with the column before it."""
        is_in = True
        for column in columns:
            if column.label is not None:
                is_in = not (chosen and column.is_choosable) or column.name in chosen
            if is_in:
                yield column

    def _columns_of(self, params: Mapping[str, str]) -> set[str]:
        """Return the optional columns that `columns` names; none means the default."""
        get = getattr(params, "getlist", lambda name: [params.get(name, "")])
        names = ",".join(get("columns")).split(",")
        return {c.name for c in self.columns if c.is_choosable} & set(names)

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
class Parsed:
    """A text of the language: the filters it means, and sentences about what it says in vain."""

    text: str
    filters: dict[str, str]
    problems: list[Problem]


@dataclass(frozen=True)
class Problem:
    """A sentence about something wrong in a search box, and a link that mends it."""

    text: Message
    fix: Text = ""
    url: str = ""


@dataclass(frozen=True)
class Chip:
    """A link that sets or removes values of a filter; `count` is None where nothing is counted."""

    label: Text
    url: str
    is_set: bool
    count: int | None = None

    @property
    def is_beyond(self) -> bool:
        """Return whether there are more rows than `counted`."""
        return self.count is not None and self.count >= COUNTED

    @property
    def counted(self) -> int:
        return min(self.count or 0, COUNTED - 1)


@dataclass(frozen=True)
class Control:
    """A filter on the page. `rest` is the URL without it; `days` are the entries of a period."""

    filter: Filter
    value: str
    chosen: Text
    chips: list[Chip]
    days: list[Chip]
    rest: str
    is_in_text: bool

    @property
    def is_removable(self) -> bool:
        """Return whether it is set to a value that no control shows."""
        is_shown = (
            self.is_in_text
            or self.filter.is_expression
            or self.filter.has_menu
            or any(chip.is_set for chip in self.chips)
        )
        return bool(self.value) and not is_shown


@dataclass(frozen=True)
class Heading:
    """A heading. `url` sorts by the column; `direction` is set if the list is sorted by it."""

    name: str
    label: Text
    css: str
    url: str = ""
    direction: str = ""


@dataclass(frozen=True)
class Choice:
    """A column that a reader may show or hide."""

    name: str
    label: Text
    is_shown: bool
    is_default: bool
    group: Text = ""


class Shown:
    """A page of a list, for templates."""

    def __init__(
        self,
        view: ListView,
        actor: Any,
        asked: ListQuery,
        page: Page[Item],
        error: str,
        text: str = "",
        problems: Sequence[Problem] = (),
    ):
        self.view, self.asked, self.error, self.rows = view, asked, error, page.items
        self.actor = actor
        self.name = view.name
        self.row_template = view.row_template
        self.is_filtered = any(asked.filters.values()) or bool(problems)
        default = "-" if view.order and view.order.is_descending else ""
        self.is_descending = (asked.sort or default).startswith("-")
        self.query = asked.url()[1:]
        self.next_url = asked.url(cursor=page.next) if page.next else ""
        self.previous_url = asked.url(cursor=page.previous) if page.previous else ""
        self.here = asked.url(cursor=asked.cursor)[1:]
        self.clear_url = replace(asked, filters={}).url()
        self.csv_url = asked.url(format="csv", limit="")
        self.has_csv = any(column.value is not None for column in view.columns)
        chosen = set(asked.columns.split(",")) if asked.columns else set()
        seen = view.columns_for(actor)
        columns = [
            c
            for c in seen
            if not c.is_choosable or (c.name in chosen if chosen else not c.is_extra)
        ]
        self.has = {column.name: True for column in columns if column.label is not None}
        self.choices = [
            Choice(c.name, c.label, c.name in self.has, not c.is_extra, c.group)
            for c in seen
            if c.is_choosable and c.label is not None
        ]
        self.heads = [self._head(c, c.label) for c in columns if c.label is not None]
        self.has_text = SEARCH in view.names
        self.text = text
        self.problems = problems

    @property
    def is_blank(self) -> bool:
        """Return whether there is nothing at all, also without filters: only the empty state."""
        return not (self.rows or self.is_filtered or self.asked.cursor or self.error)

    def hide_empty(self, columns: Iterable[Column]) -> None:
        """Hide those of the columns in which no row has a value, unless the reader chose columns."""
        if self.asked.columns:
            return
        empty = {c.name for c in columns if not any(c.cell(r) not in (None, "") for r in self.rows)}
        self.heads = [head for head in self.heads if head.name not in empty]
        self.has = {name: True for name in self.has if name not in empty}

    @property
    def filters(self) -> dict[str, str]:
        """Return the values of the filters by name."""
        return self.asked.filters

    @property
    def search(self) -> Filter | None:
        """Return the filter of the search box."""
        return next((one for one in self.view.filters if one.name == SEARCH), None)

    @cached_property
    def controls(self) -> list[Control]:
        return [self._control(one) for one in self.view.filters]

    @property
    def expression(self) -> Control | None:
        """Return the control of the filter that fills the search box."""
        return next((c for c in self.controls if c.filter.is_expression), None)

    @property
    def has_views(self) -> bool:
        """Return whether there is a search whose state is worth saving."""
        return self.has_text or self.expression is not None

    @property
    def cookie_path(self) -> str:
        """Return where the chosen columns apply; "" for all pages of the list."""
        return "page" if self.view.is_local else ""

    @property
    def has_chips(self) -> bool:
        return any(control.chips for control in self.controls)

    @property
    def is_long(self) -> bool:
        """Return whether there are so many rows that one looks for some of them."""
        return self.is_filtered or bool(self.previous_url) or len(self.rows) >= LONG

    @property
    def has_menus(self) -> bool:
        return any(one.has_menu for one in self.view.filters)

    @property
    def first_url(self) -> str:
        return self.asked.url()

    @property
    def sizes(self) -> list[tuple[int, str, bool]]:
        """Return the page sizes to choose from: rows, URL, and whether it is the current one."""
        view = self.view
        if view.order is None or view.page_size is None or not self.is_paged:
            return []
        now = self.asked.limit or view.page_size
        sizes = [n for n in PAGE_SIZES if n <= view.max_page_size]
        return [
            (n, self.asked.url(limit="" if n == view.page_size else str(n)), n == now)
            for n in sizes
        ]

    @property
    def is_paged(self) -> bool:
        """Return whether the rows are more than a small page."""
        has_neighbours = bool(self.next_url or self.previous_url)
        return has_neighbours or len(self.rows) > PAGE_SIZES[0]

    def _head(self, column: Column, label: Text) -> Heading:
        if not column.sort:
            return Heading(column.name, label, column.css)
        name, sort = column.name, self.asked.sort
        direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        following = {"": name, "ascending": f"-{name}", "descending": ""}[direction]
        return Heading(name, label, column.css, self.asked.url(sort=following), direction)

    def _control(self, one: Filter) -> Control:
        value = self.asked.filters[one.name]
        counts = self._counts(one)
        chips = [
            Chip(
                label,
                self.asked.url(**{one.name: one.toggled(value, chip)}),
                one.is_set(value, chip),
                counts.get(chip),
            )
            for chip, label in one.chips
            if counts.get(chip) != 0 or one.is_set(value, chip)
        ]
        rest = self.asked.url(**{one.name: ""})
        if one.is_period:
            rest = self.asked.url(on="", since="", until="")
        days = self._days(one) if one.is_period else []
        return Control(one, value, self._chosen(one, days), chips, days, rest, self.has_text)

    def _days(self, one: Filter) -> list[Chip]:
        """Return the entries of the menu of a period; each replaces a range."""
        asked = self.asked.filters
        has_range = bool(asked["since"] or asked["until"])
        return [
            Chip(
                label,
                self.asked.url(on=value, since="", until=""),
                asked[one.name] == value and not has_range,
            )
            for value, label in (one.values(self.actor) if one.values else ())
        ]

    def _chosen(self, one: Filter, days: list[Chip]) -> Text:
        """Return what the button of the menu says: the values that are set."""
        if not one.is_period:
            return _labelled(one, self.asked.filters[one.name])
        if day := next((day for day in days if day.is_set), None):
            return day.label
        asked = self.asked.filters
        return " ".join(f"{name}:{asked[name]}" for name in PERIOD if asked[name])

    def _counts(self, one: Filter) -> dict[str, int]:
        """Count the rows of each chip among those that the other filters pass."""
        if not one.is_counted or self.error or self.view.is_searched(self.asked):
            return {}
        others = {name: text for name, text in self.asked.filters.items() if name != one.name}
        rows = self.view.narrowed(self.actor, others)
        return {
            chip: _count(one.narrow(rows, chip, self.actor)) for chip, _label in one.chips if chip
        }


def matching(match: Callable[[list[str], Any], Q]) -> Callable[[Any, str, Any], Rows]:
    """Narrow to the rows that match any of the values, and none of the excluded ones."""

    def narrow(rows: Any, text: str, actor: Any) -> Rows:
        found = list_language.values(text)
        if wanted := [v.text for v in found if not v.is_negative]:
            rows = rows.filter(match(wanted, actor))
        if unwanted := [v.text for v in found if v.is_negative]:
            rows = rows.exclude(match(unwanted, actor))
        return rows

    return narrow


def one_of(lookup: str, read: Callable[[str], object] = str) -> Callable[[Any, str, Any], Rows]:
    """Narrow to the rows whose field is one of the values."""
    return matching(lambda texts, actor: Q((f"{lookup}__in", [read(text) for text in texts])))


def times(
    field: str,
    label: Text,
    read: Callable[[datetime], object] = lambda at: at,
    *,
    is_search: bool = False,
) -> tuple[Filter, ...]:
    """Return the filters of a time: `on:` a day or another period, `since:` and `until:`.

    `read` returns what the field has for an instant.
    """

    def since(rows: Any, text: str, actor: Any) -> Rows:
        return rows.filter(**{f"{field}__gte": read(instant("since", text))})

    def until(rows: Any, text: str, actor: Any) -> Rows:
        return rows.filter(**{f"{field}__lt": read(instant("until", text))})

    def on(rows: Any, text: str, actor: Any) -> Rows:
        found = period("on", text)
        return rows.filter(**{f"{field}__gte": read(found.begin), f"{field}__lt": read(found.end)})

    forms = "`2026-01-31`, `2026-01-31T12:00`, an age (`24h`, `7d`), `yesterday`, `last monday`"
    zone = "Days begin at midnight of the header `Time-Zone`, else of UTC."
    found = (
        Filter(
            "on",
            on,
            f"In a period: a day, `2026-01`, `last week`; or one of {forms}. {zone}",
            label,
            values=lambda actor: DAYS,
            is_period=True,
        ),
        Filter(
            "since",
            since,
            f"At or after {forms}. {zone}",
            _("At or after a time"),
            values=lambda actor: DAYS,
            aliases=("after",),
        ),
        Filter(
            "until",
            until,
            f"Before {forms}. {zone}",
            pgettext("filter", "Before a time"),
            values=lambda actor: DAYS,
            aliases=("before",),
        ),
    )
    return tuple(replace(one, is_search=is_search) for one in found)


def ended(field: str) -> Filter:
    """Return the filter of the time of an end, beside those of `times`: `ended:24h`."""

    def narrow(rows: Any, text: str, actor: Any) -> Rows:
        found = period("ended", text)
        return rows.filter(**{f"{field}__gte": found.begin, f"{field}__lt": found.end})

    return Filter(
        "ended",
        narrow,
        "Ended in a period: `24h`, `yesterday`, `2026-01-31`, `last week`.",
        pgettext("filter", "Ended"),
        values=lambda actor: (("24h", pgettext("text, portal", "Last 24 hours")), *DAYS),
        aliases=("finished",),
        is_search=True,
    )


DAYS: tuple[tuple[str, Text], ...] = (
    ("today", pgettext("text, portal", "Today")),
    ("yesterday", pgettext("text, portal", "Yesterday")),
    ("7d", pgettext("text, portal", "Last 7 days")),
    ("30d", pgettext("text, portal", "Last 30 days")),
    ("this week", pgettext("text, portal", "This week")),
    ("last week", pgettext("text, portal", "Last week")),
    ("this month", pgettext("text, portal", "This month")),
    ("last month", pgettext("text, portal", "Last month")),
)


def compared(field: str, read: Callable[[str], object]) -> Callable[[Any, str, Any], Rows]:
    """Narrow by an amount: `>10GiB`, `<=2h`, `1h..2h`. `read` may raise ValueError."""

    def value(text: str) -> object:
        try:
            return read(text.strip())
        except ValueError:
            raise InvalidInput.at(
                field,
                Message("“{text}” is not an amount. Write, for example, >10.", text=text[:40]),
            ) from None

    def narrow(rows: Any, text: str, actor: Any) -> Rows:
        least, dots, most = text.partition("..")
        if dots:
            return rows.filter(**{f"{field}__gte": value(least), f"{field}__lte": value(most)})
        sign = next((sign for sign in (">=", "<=", ">", "<") if text.startswith(sign)), "")
        lookup = {">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "": "exact"}[sign]
        return rows.filter(**{f"{field}__{lookup}": value(text.removeprefix(sign))})

    return narrow


def containing(*fields: str) -> Callable[[Any, str, Any], Rows]:
    """Narrow to the rows where every word is in one of the fields, in any case."""

    def narrow(rows: Any, text: str, actor: Any) -> Rows:
        for word, is_negative in list_language.words(text):
            found = Q()
            for name in fields:
                found |= Q((f"{name}__icontains", word))
            rows = rows.exclude(found) if is_negative else rows.filter(found)
        return rows

    return narrow


def search_in(*fields: str, placeholder: Text, is_search: bool = False) -> Filter:
    """Return the search of a list for words in some fields."""
    return Filter(
        SEARCH,
        containing(*fields),
        "Words in any case; `-word` excludes, quotes keep spaces.",
        pgettext("filter", "Search"),
        placeholder,
        is_search=is_search,
    )


def worded(*fields: str) -> Callable[[Any, str, Any], Rows]:
    """Narrow a complete list of represented rows as `containing` does."""

    def narrow(rows: list[Item], text: str, actor: Any) -> list[Item]:
        for word, is_negative in list_language.words(text.lower()):
            rows = [
                row
                for row in rows
                if any(word in str(row[name]).lower() for name in fields) is not is_negative
            ]
        return rows

    return narrow


def _check_text(one: Filter, text: str) -> None:
    most = MAX_EXPRESSION if one.is_expression else MAX_TEXT
    if len(text) > most or not text.isprintable():
        raise InvalidInput.at(
            one.name, f"must be at most {most} characters long, without control characters"
        )


def _written(one: Filter, value: str) -> str:
    """Return a value as the parameter of a filter has it."""
    return list_language.written_values([Value(value)]) if one.is_multiple else value


def _labelled(one: Filter, text: str) -> str:
    """Return the values of a parameter as the button of its menu says them."""
    found = list_language.values(text) if one.is_multiple else [Value(text)]
    labels = dict(one.chips)
    return ", ".join(
        ("≠ " if v.is_negative else "") + str(labels.get(v.text, v.text)) for v in found
    )


def _fixed(terms: list[Term], i: int, term: Term, message: Message) -> Problem:
    """Return a problem of one term with the text that has another in its place."""
    fixed = list_language.written([*terms[:i], term, *terms[i + 1 :]])
    return Problem(message, list_language.written([term]), "?" + urlencode({"query": fixed}))


def _counted(one: Filter, rows: Rows, values: Sequence[str], actor: Any) -> dict[str, int] | None:
    """Return how many rows have each value; None where that would take many queries."""
    if one.field and isinstance(rows, QuerySet):
        pairs = rows.order_by().values_list(one.field).annotate(n=Count("pk")).order_by("-n")
        return {str(value): n for value, n in pairs[:MAX_VALUES] if value not in (None, "")}
    if one.field:
        return dict(Counter(str(row[one.field]) for row in rows if row[one.field]))
    if len(values) > FEW:
        return None
    return {value: _count(one.narrow(rows, _written(one, value), actor)) for value in values}


def _count(rows: Rows) -> int:
    if isinstance(rows, QuerySet):
        return rows.order_by()[:COUNTED].count()
    return min(len(rows), COUNTED)


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse unknown parameters. Raises InvalidInput."""
    for name in given:
        if name not in known:
            raise InvalidInput.at(name, f"is not a filter; use one of {', '.join(known) or 'none'}")


def in_this_context(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Produce the lines in the tenant scope of the request, which ends before the response."""
    context = copy_context()
    return iter(lambda: context.run(next, lines, b""), b"")
