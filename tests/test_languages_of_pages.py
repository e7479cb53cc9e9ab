"""Pages in Korean and Japanese contain no English text of the catalogs."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest
from babel.messages.pofile import read_po

from clusters.backends import ensure_first_cluster
from jobs import services
from schedulers.spec import parse_mapping
from tests.rig.environment import ROOT
from tests.rig.seeds import WALKS, choose, is_chosen
from tests.test_permission_matrix import PAGES
from workspaces.tenancy.scope import org_scope

SHOWN = sorted({path for _, path, view in PAGES if "GET" in view.methods})
_UNSEEN = re.compile(r"<(pre|code|script|style|textarea|svg|head)\b.*?</\1>|<[^>]*>", re.DOTALL)


@cache
def english() -> list[str]:
    """Return the messages of several words without placeholders."""
    with (ROOT / "locale" / "ko" / "LC_MESSAGES" / "django.po").open("rb") as file:
        entries = [entry for entry in read_po(file, "ko") if isinstance(entry.id, str)]
    return [
        e.id
        for e in entries
        if " " in e.id.strip()
        and len(e.id) > 9
        and "%(" not in e.id
        and "{" not in e.id
        and e.string != e.id
    ]


def left_in_english(page: str) -> list[str]:
    """Return the source messages that occur in a page's text."""
    text = " ".join(html.unescape(_UNSEEN.sub("\x00", page)).split())
    pieces = {piece.strip() for piece in text.split("\x00")}
    return sorted(m for m in english() if m in pieces)


# In the gate every second page in one of the languages, once; all of them in `make test-all`
@WALKS
@pytest.mark.parametrize("language", ["ko", "ja"])
def test_pages_have_no_untranslated_known_text(story, language, is_whole):
    ensure_first_cluster()
    with org_scope(story.atlas.id):
        services.submit_job(
            actor=story.actor(story.ada),
            team=story.vision,
            spec=parse_mapping({"run": "true", "name": "first"}),
        )
    found: dict[str, list[str]] = {}
    paths = ["/accounts/login/", "/accounts/password/change/", "/accounts/sessions/", *SHOWN]
    for person in (story.ada, story.dot):
        client = story.client(person)
        client.post("/accounts/language/", {"language": language})
        for path in paths:
            is_operators = path.startswith("/platform/")
            is_due = choose(("ko", "ja"), path) == [language] and is_chosen("page", path, one_in=2)
            if not is_whole and not (is_due and is_operators == (person == story.dot)):
                continue
            page = client.get(path, follow=True)
            if page.headers["Content-Type"].startswith("text/html") and not page.streaming:
                text = page.content.decode()
                assert f'<html lang="{language}">' in text, path
                found[path] = left_in_english(text)
    assert len(found) > 15
    assert {path: left for path, left in found.items() if left} == {}
