"""Sessions in the command palette, by words of the name, newest first."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

from portal.web.search import Hit, Query, SearchProvider
from portal.web.translation import translated
from sessions.selectors import state_of, visible_sessions
from sessions.states import SESSION
from sessions.templates import title_of


def _sessions(query: Query) -> Iterator[Hit]:
    for one in query.narrow(visible_sessions(query.actor).order_by("-number"), "name"):
        page = reverse("session", args=[query.org, one.number])
        word = translated(SESSION[state_of(one)].word)
        yield Hit(one.name, page, f"{word} · {translated(title_of(one.template))}")


PROVIDERS = (
    SearchProvider("sessions", pgettext("group of search results", "Sessions"), 15, _sessions),
)
