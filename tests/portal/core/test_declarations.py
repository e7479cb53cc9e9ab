"""What apps declare is asked for, is found, and says nothing twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from notifications.kinds import KINDS
from portal.core.declarations import STANDARD, declarations, declared, modules
from portal.core.protocols import protocols
from tests.rig.environment import ROOT
from tests.rig.packages import PACKAGES
from workspaces.access.permissions import all_permissions, texts

ASKED = re.compile(r'\b(?:declared|declarations)\(\s*"([\w.]+)",\s*"(\w+)"')


def _asked() -> set[tuple[str, str]]:
    """Return (module, name) of all questions in our code."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {pair for path in files for pair in ASKED.findall(path.read_text())}


def test_every_question_is_to_a_standard_module_and_some_app_answers():
    asked = _asked()
    assert len(asked) > 20 and {module for module, _ in asked} <= set(STANDARD)
    answered = {pair for pair in asked if any(declarations(*pair))}
    assert asked - answered == {("permissions", "PERMISSIONS")}  # the first apps use one table
    with pytest.raises(LookupError, match="not a standard module"):
        declared("webs.navigation", "ENTRIES")


def test_every_constant_of_providers_is_asked_for():
    asked = {name for module, name in _asked() if module == "providers"}
    files = (Path(str(found.__file__)) for _, found in modules("providers"))
    given = {name for file in files for name in re.findall(r"(?m)^([A-Z_]+) = ", file.read_text())}
    assert len(given) > 15 and given <= asked


def test_layout_lists_the_standard_modules():
    text = (ROOT / "docs/design/layout.md").read_text()
    rows = re.findall(r"^\| `([\w/]+)` \|", text.split("## Standard modules")[1], re.MULTILINE)
    assert {row.replace("/", ".") for row in rows} == set(STANDARD)


def test_declarations_name_nothing_twice():
    names = {
        "pages": [entry.url_name for entry in declared("web.navigation", "ENTRIES")],
        "search in an organization": [
            one.kind for one in declared("web.search", "PROVIDERS") if one.in_org
        ],
        "search in the platform area": [
            one.kind for one in declared("web.search", "PROVIDERS") if one.in_platform
        ],
        "tags": [part for tag in declared("api.urls", "TAGS") for part in tag.segments],
        "protocols": [one.prefix for one in protocols()],
        "notices": [kind.name for kind in KINDS],
        "events": [event for _, found in declarations("notices", "MAPPERS") for event in found],
        "topics": [topic for _, found in declarations("live_topics", "TOPICS") for topic in found],
        "tasks": [task for _, found in declarations("tasks", "SCHEDULE") for task in found],
        "permissions": [str(one) for one in all_permissions()],
    }
    assert {
        what: [name for name, n in Counter(found).items() if n > 1]
        for what, found in names.items()
        if len(set(found)) != len(found)
    } == {}
    assert set(texts()) == set(all_permissions())
