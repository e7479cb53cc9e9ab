"""What the command palette finds: each app declares providers in `web/search.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from portal.core.declarations import declared

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_QUERY = 100  # characters
EACH = 6  # hits of one kind


@dataclass(frozen=True)
class Hit:
    """Something found; `note` distinguishes hits with the same title.

    The palette drops what does not have all typed words in the title, the note or `words`.
    """

    title: str
    url: str
    note: str = ""
    words: str = ""


@dataclass(frozen=True)
class Query:
    """What an actor searches for. `org` is the slug of the organization, "" in the platform area.

    Every word must be found.
    """

    actor: Any
    org: str
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.split()

    def narrow(self, rows: QuerySet[Any], *fields: str) -> QuerySet[Any]:
        """Return the rows where every word is in a field, those that begin with the text first."""
        for word in self.words:
            found = Q()
            for name in fields:
                found |= Q((f"{name}__icontains", word))
            rows = rows.filter(found)
        begins = Q()
        for name in fields:
            begins |= Q((f"{name}__istartswith", self.text))
        place = Case(When(begins, then=Value(0)), default=Value(1), output_field=IntegerField())
        return rows.order_by(place, fields[0])[:EACH]

    def matches(self, *texts: str) -> bool:
        """Return whether every word is in one of the texts."""
        lower = [text.lower() for text in texts]
        return all(any(word.lower() in text for text in lower) for word in self.words)


@dataclass(frozen=True)
class SearchProvider:
    """Finds one kind of things.

    `find` runs in the tenant scope of the organization and returns only what the actor may see.
    Without `permission` it is called for every member. A provider `in_platform` is also asked in
    the platform area, where there is no organization, and only there if it is not `in_org`.
    """

    kind: str
    label: str | _StrPromise
    order: int
    find: Callable[[Query], Iterable[Hit]]
    permission: str | None = None
    in_platform: bool = False
    in_org: bool = True


def platform_kinds(actor: Any) -> list[str]:
    """Return the kinds that an actor finds in the platform area."""
    return [
        one.kind
        for one in declared("web.search", "PROVIDERS")
        if one.in_platform and (one.permission is None or actor.may(one.permission))
    ]


def search(query: Query, skipped: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the groups that have hits, in display order, without the kinds `skipped`."""
    if not query.words:
        return []
    groups = [
        {
            "kind": one.kind,
            "label": str(one.label),
            "items": [
                {"title": hit.title, "note": str(hit.note), "words": hit.words, "url": hit.url}
                for hit in one.find(query)
            ],
        }
        for one in sorted(declared("web.search", "PROVIDERS"), key=lambda one: one.order)
        if (one.in_org if query.org else one.in_platform)
        and one.kind not in skipped
        and (one.permission is None or query.actor.may(one.permission))
    ]
    return [group for group in groups if group["items"]]
