"""The guide that people read at `/help/`: a static site of Zensical, and its index for the palette.

`make run` builds it (scripts/guide_site.py, docs/design/help.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language

from portal.core.errors import NotFound
from portal.core.help import topic_path
from portal.core.messages import Message
from portal.web.search import EACH, Hit, Query


@dataclass(frozen=True)
class Topic:
    """A page of the guide: titles by language, words by which people look for it, and sections."""

    name: str
    titles: dict[str, str]
    keywords: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]  # (anchor, title)

    @property
    def title(self) -> str:
        return self.titles.get(get_language() or "en", self.titles["en"])


@cache
def topics() -> tuple[Topic, ...]:
    """Return the pages in the order of the guide; none if it was not built."""
    path = settings.MUSTER_GUIDE / "help" / "topics.json"
    if not path.exists():
        return ()
    return tuple(
        Topic(
            row["name"],
            row["titles"],
            tuple(row["keywords"]),
            tuple((anchor, title) for anchor, title in row["sections"]),
        )
        for row in json.loads(path.read_text())
    )


def found_topics(query: Query) -> list[Hit]:
    """Return the pages that match: by their title first, then by a section, then by a keyword."""
    ranked = sorted(
        ((rank, hit) for topic in topics() for rank, hit in _hits(topic, query)),
        key=lambda one: one[0],
    )
    return [hit for _, hit in ranked[:EACH]]


def _hits(topic: Topic, query: Query) -> Iterator[tuple[int, Hit]]:
    """Yield at most one hit. The note has what the title lacks: the palette marks typed words."""
    names = " ".join(topic.titles.values())
    if query.matches(names):
        yield 0, Hit(topic.title, topic_path(topic.name), _missing(query, topic.title, names))
        return
    for anchor, title in topic.sections:
        if query.matches(names, title):
            yield 1, Hit(topic.title, topic_path(f"{topic.name}#{anchor}"), title)
            return
    if query.matches(names, *topic.keywords):
        words = [word for word in topic.keywords if any(w.lower() in word for w in query.words)]
        yield 2, Hit(topic.title, topic_path(topic.name), ", ".join(words))


def _missing(query: Query, title: str, names: str) -> str:
    """Return the titles in all languages if the shown one lacks a typed word."""
    return "" if query.matches(title) else names


def missing_page(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer what WhiteNoise does not have."""
    if topics():
        raise NotFound(
            Message("The guide has no such page. Go to its start page: {url}", url="/help/")
        )
    raise NotFound(Message("The guide isn't available on this portal. Ask whoever runs it."))
