"""Each page has a topic of the guide, and each error code a section."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from django.template.loader import render_to_string

from portal.core import errors
from portal.core.help import topic_path
from portal.web.guide import topics
from tests.rig.environment import ROOT

_PAGE = re.compile(r'\{% extends (?:"base\.html"|"base_auth\.html"|skeleton\S*) ?%\}')
_TOPIC = re.compile(r"\{% block topic %\}(.*?)\{% endblock %\}", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}")


def known() -> set[str]:
    """Return the topics: pages of the guide, and their sections."""
    pages = topics()
    assert len(pages) > 30, "the guide was not built: make build/site/help/topics.json"
    found = {page.name for page in pages}
    return found | {f"{page.name}#{anchor}" for page in pages for anchor, _ in page.sections}


def named_in(text: str) -> list[str]:
    """Return the topics that a template, or its branches, name."""
    return [word for block in _TOPIC.findall(text) for word in _TAG.sub(" ", block).split()]


def test_each_page_has_a_topic_that_exists():
    there, wrong, pages = known(), [], 0
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text()
        names = named_in(text) + re.findall(r'<c-empty[^>]*\btopic="([^"]*)"', text)
        has_default = "{% extends \"base_auth.html\" %}" in text
        if _PAGE.match(text):
            pages += 1
            if not names and not has_default:
                wrong.append(f"{path.name} has no {{% block topic %}}")
        wrong += [f"{path.name}: {name}" for name in names if name not in there]
    assert wrong == []
    assert pages > 130


def test_page_links_its_topic_from_title_and_empty_state(story):
    page = story.client(story.ada).get("/atlas/jobs").content.decode()
    links = re.findall(r'href="(/help/[^"]*)"', page)
    assert links.count(topic_path("first-job")) == 2, links
