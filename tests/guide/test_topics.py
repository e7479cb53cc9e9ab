"""Each page has a topic of the guide, and each error code a section."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.template.loader import render_to_string

from portal.core import errors
from portal.core.help import topic_path
from portal.web.guide import topics
from schedulers.states import Reason, Wait
from tests.rig.environment import ROOT

_PAGE = re.compile(r'\{% extends (?:"base\.html"|"base_auth\.html"|skeleton\S*) ?%\}')
_TOPIC = re.compile(r"\{% block topic %\}(.*?)\{% endblock %\}", re.DOTALL)
_CODE = re.compile(r"\bcode(?:=| =|, http|: ClassVar)")  # other files are not parsed
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
        has_default = '{% extends "base_auth.html" %}' in text
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


def error_codes() -> Iterator[tuple[str, Path]]:
    """Yield each code that our code gives to an error, with its file."""
    packages = {path.parent for path in ROOT.glob("*/apps.py")} | {
        ROOT / "portal",
        ROOT / "schedulers",
    }
    trees = [
        (path, ast.parse(text))
        for package in sorted(packages)
        for path in sorted(package.rglob("*.py"))
        if _CODE.search(text := path.read_text())
    ]
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    classes = [
        (path, node)
        for path, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    while more := {
        node.name
        for _, node in classes
        if node.name not in kinds and kinds & {name_of(base) for base in node.bases}
    }:
        kinds |= more
    for path, node in classes:
        if node.name in kinds:
            yield from ((code, path) for code in _codes_of_class(node))
    for path, tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (
                name_of(node.func) in kinds or name_of(node.func) == "at"
            ):
                for word in node.keywords:
                    if word.arg == "code":
                        yield from ((code, path) for code in _texts(word.value))


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _codes_of_class(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name("code"), *_])], value=ast.Tuple(elts=[first, *_])
            ):
                yield from _texts(first)
            case ast.Assign(targets=[ast.Name("code")], value=value):
                yield from _texts(value)
            case ast.AnnAssign(target=ast.Name("code"), value=ast.expr() as value):
                yield from _texts(value)


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(str() as text):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from (*_texts(one), *_texts(other))


def test_each_error_code_has_a_section():
    there = known()
    codes = {code: path for code, path in error_codes()}
    assert len(codes) > 90
    assert {code: path.name for code, path in codes.items() if f"errors#{code}" not in there} == {}


def test_error_of_the_api_and_its_page_link_the_section(story):
    client = story.client(story.ada)
    found = client.get("/api/v1/orgs/atlas/jobs/4711").json()
    assert found["help"].endswith(topic_path(f"errors#{found['code']}"))
    assert found["help"].startswith("http")
    page = client.get("/atlas/jobs/4711").content.decode()
    assert topic_path(f"errors#{found['code']}") in page
    bare = render_to_string("error.html", {"error": errors.Unavailable("The disk is full.")})
    assert topic_path("errors#unavailable") in bare


def test_palette_finds_topics_in_every_area_and_language(story):
    def hits(person, area, text):
        groups = story.client(person).get(f"/{area}/find", {"q": text}).json()["groups"]
        return {
            item["title"]: item
            for group in groups
            if group["kind"] == "help"
            for item in group["items"]
        }

    assert hits(story.ada, "atlas", "pending")["Why is my job pending"]["url"] == topic_path(
        "pending"
    )
    assert hits(story.dot, "platform", "mig health")["MIG and GPU health"]["url"] == topic_path(
        "gpus"
    )
    assert "oom" in hits(story.ada, "atlas", "oom")["Why did my job fail"]["note"]
    client = story.client(story.ada)
    client.post("/accounts/language/", {"language": "ko"})
    [group] = [
        g
        for g in client.get("/atlas/find", {"q": "sbatch"}).json()["groups"]
        if g["kind"] == "help"
    ]
    assert group["items"][0]["title"] == "sbatch에서 옮기기"


def test_guide_explains_each_reason_of_waiting_and_ending():
    for name, reasons in (("pending", Wait), ("failed", Reason)):
        text = (ROOT / "docs" / "guide" / f"{name}.md").read_text()
        explained = {
            word
            for row in re.findall(r"^\| ([a-z_, ]+) \|", text, re.MULTILINE)
            for word in row.split(", ")
        }
        assert explained == {str(reason) for reason in reasons}


def test_guide_names_files_that_exist():
    named = {
        name
        for path in (ROOT / "docs" / "guide").glob("*.md")
        for name in re.findall(r"\b(?:tests|deploy|docs/design)/[\w/.-]*\w", path.read_text())
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
