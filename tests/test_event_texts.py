"""The vocabulary of events: every kind that our code records reads as a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from portal.core.declarations import declared
from portal.core.event_texts import event_text, groups, kinds, mark_of, names, subjects
from portal.core.models import Event
from portal.core.states import Mark
from tests.rig.packages import PACKAGES
from workspaces.approvals.kinds import kinds as approval_kinds
from workspaces.audit.event_links import event_lines
from workspaces.tenancy.scope import org_scope

ROOT = Path(__file__).resolve().parent.parent
KIND = re.compile(r"[a-z_]+\.[a-z_]+")


def test_declared_kinds_read_as_sentences_whatever_an_event_says():
    faults = []
    every = [kind.kind for kind in declared("events", "EVENTS")]
    faults += [f"{kind} twice" for kind in {*every} if every.count(kind) > 1]
    prefixes = {kind.partition(".")[0] for kind in every}
    faults += [f"{prefix}: no title" for prefix in prefixes - dict(groups()).keys()]
    for kind in kinds().values():
        if unsure := {*names(kind.texts[-1])} - {"actor", "subject"}:
            faults.append(f"{kind.kind}: the last text needs {unsure}")
        for data in (
            {},
            {"before": "member (suspended)", "after": None},
            {"before": {}, "after": {}},
        ):
            text = event_text(Event(kind=kind.kind, subject_type="team", data=data))
            if "{" in text or not text or not isinstance(mark_of(kind.kind, data), Mark):
                faults.append(f"{kind.kind} with {data}: {text}")
    assert faults == []


def test_every_recorded_kind_and_type_of_subject_is_declared():
    found = set(_recorded())
    assert len(found) > 170  # else this test no longer finds how kinds are written
    assert sorted(found - kinds().keys()) == []
    types = {f"{kind.name}_request" for kind in approval_kinds()} - {"model_request"}
    assert types | {"job", "team", "user", "cluster"} <= subjects().keys()


def _recorded() -> Iterator[str]:
    """Yield the kinds in calls of EventRecord, and of functions that pass theirs on to it."""
    trees = [
        ast.parse(path.read_text())
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "EventRecord" in path.read_text() or "record_" in path.read_text()
    ]
    for tree in trees:
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        for function in functions:
            for call in _calls(function, "EventRecord"):
                kind = _argument(call, 0, "kind")
                yield from _constants(kind, "")
                for prefix, name in _passed(kind, function):
                    place = [a.arg for a in function.args.args].index(name)
                    for other in trees if function.name.startswith("record_") else [tree]:
                        for passed in _calls(other, function.name):
                            yield from _constants(_argument(passed, place, name), prefix)


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name in (
            getattr(node.func, "id", ""),
            getattr(node.func, "attr", ""),
        ):
            yield node


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    named = {word.arg: word.value for word in call.keywords}
    return call.args[place] if place < len(call.args) else named.get(name)


def _passed(kind: ast.expr | None, function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield the parameter of the function that the kind is made of, with the text before it."""
    parameters = {a.arg for a in function.args.args}
    if isinstance(kind, ast.Name) and kind.id in parameters:
        yield "", kind.id
    if isinstance(kind, ast.JoinedStr) and len(kind.values) == 2:
        head, rest = kind.values
        if (
            isinstance(head, ast.Constant)
            and isinstance(rest, ast.FormattedValue)
            and isinstance(rest.value, ast.Name)
            and rest.value.id in parameters
        ):
            yield str(head.value), rest.value.id


def _constants(value: ast.expr | None, prefix: str) -> Iterator[str]:
    for node in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
        if isinstance(node, ast.Constant) and KIND.fullmatch(f"{prefix}{node.value}"):
            yield f"{prefix}{node.value}"


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (
            "quota.changed",
            {
                "name": "gpu.h100 of team vision",
                "changes": 1,
                "before": {"gpu.h100 of team vision": {"limit": 16, "guaranteed": 0}},
                "after": {"gpu.h100 of team vision": {"limit": 32, "guaranteed": 0}},
            },
            "kim@atlas.example raised the quota of vision to 32 H100",
        ),
        (
            "team_member.changed",
            {"name": "vision", "email": "ben@x.org", "before": "member", "after": "lead"},
            "kim@atlas.example changed the role of ben@x.org in vision from Member to Team admin",
        ),
        (
            "attempt.failed",
            {"ordinal": 2, "index": 3, "reason": "out_of_memory", "evidence": "137", "node": "n1"},
            "Attempt 2 of task 3 of the job failed on n1. The job needed more memory than it asked for. 137",
        ),
        ("node.drained", {"name": "n1", "why": "fan"}, "kim@atlas.example drained n1: fan"),
        ("thing.of_old", {"name": "x"}, "kim@atlas.example: thing of old, x"),
    ],
)
def test_event_reads_as_people_say_it(kind, data, text):
    event = Event(kind=kind, actor="kim@atlas.example", subject_type="job", data=data)
    assert event_text(event) == text


def test_page_links_people_teams_and_subjects_and_escapes_the_rest(story):
    events = [
        Event(
            kind="team_member.added",
            actor=story.ada.email,
            subject_type="team",
            subject_id=story.vision.id,
            data={"name": "vision", "email": story.ben.email, "after": {"role": "<b>x</b>"}},
        ),
        Event(
            kind="node.drained",
            actor=story.dot.email,
            subject_type="node",
            subject_id=uuid4(),
            data={"name": "n1", "why": "<i>"},
        ),
    ]
    with org_scope(story.atlas.id):
        added, drained = event_lines(events, story.atlas)
        [hidden] = event_lines(events[1:], None, names_actors=False, has_links=False)
    assert (
        f'<a href="/atlas/people/{story.ada.email}" title="{story.ada.email}">Ada</a>'
        in added.sentence
    )
    assert '<a href="/atlas/teams/vision" title="">Vision</a>' in added.sentence
    assert "&lt;b&gt;x" in added.sentence and "&lt;i&gt;" in drained.sentence
    assert hidden.sentence == "An operator drained n1: &lt;i&gt;"
