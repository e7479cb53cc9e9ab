"""Errors of forms on pages, and where forms that create something are."""

from __future__ import annotations

import re
from html import unescape

import pytest

from clusters.models import Cluster
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotPermitted
from tests.rig.environment import ROOT

DIALOG = re.compile(r"<c-(form-|)dialog\b.*?</c-\1dialog>", re.DOTALL)
# Pages that are a form, a password for one row, and a tag beside tags.
ELSEWHERE = {
    "workspaces/people_import.html",
    "workspaces/sso/linked.html",
    "experiments/_run_overview.html",
}
TYPED = re.compile(r'<input\b(?![^>]*type="(hidden|checkbox|radio)")|<textarea|<c-field')


def notes(answer) -> list[tuple[str, str, str]]:
    """Return field, text and help link of each error above the page."""
    page = unescape(answer.content.decode())
    found = re.findall(r'<div class="note bad"(.*?)</span>\s*(<a href="([^"]*)")?', page, re.DOTALL)
    return [
        ("".join(re.findall(r'data-field="(.*?)"', one)), one.partition("<span>")[2], link)
        for one, _, link in found
    ]


def test_page_names_the_field_of_every_error_and_links_codes_to_the_guide(story):
    Cluster.objects.create(name="big", backend="local")
    dot = story.client(story.dot)
    pool, page = {"do": "new-pool", "name": "Bad name"}, "/platform/clusters/big"
    assert notes(dot.post(page, {**pool, "labels": "rack"}, follow=True)) == [
        ("labels", "labels: 'rack' must be name=value", "")
    ]
    found = notes(dot.post(page, {**pool, "gpu_type": "h" * 99}, follow=True))
    assert [field for field, _, _ in found] == ["name", "gpu_type"]
    assert all(text.startswith(f"{field}: ") for field, text, _ in found)
    dot.post(page, {**pool, "name": "night"}, follow=True)
    taken = notes(dot.post(page, {**pool, "name": "night"}, follow=True))
    assert [(field, link) for field, _, link in taken] == [("name", "")]
    plan = dot.post("/platform/mig", {"cluster": "big", "n.full": "2"})
    assert [(field, link) for field, _, link in notes(plan)] == [("", "/help/errors/#no_mig")]


def test_collected_errors_are_raised_at_once_one_for_each_field():
    errors = InputErrors()
    for field in ("name", "name", "url"):
        with errors:
            raise InvalidInput.at(field, f"is wrong: {field}")
    with pytest.raises(NotPermitted), errors:
        raise NotPermitted("no")
    with pytest.raises(InvalidInput) as raised:
        errors.raise_all()
    assert [one["field"] for one in raised.value.data["errors"]] == ["name", "url"]
    alone = InputErrors()
    with alone:
        raise Conflict.at("name", "exists", code="name_taken")
    with pytest.raises(Conflict, match=r"^exists$"):
        alone.raise_all()


def test_address_opens_a_dialog_of_the_page(story):
    ada = story.client(story.ada)
    is_open = r'id="new-team"[^>]* open>'
    assert re.search(is_open, ada.get("/atlas/teams?dialog=new-team").content.decode())
    assert not re.search(is_open, ada.get("/atlas/teams?dialog=other").content.decode())


def test_no_form_that_creates_stands_open_beside_a_list():
    """Forms of settings may: theirs have values."""
    open_forms = {
        path.relative_to(ROOT / "templates").as_posix()
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r"<c-table|<table class=\"list", text := path.read_text())
        for form in re.findall(r"<form\b.*?</form>", DIALOG.sub("", text), re.DOTALL)
        if 'method="post"' in form and TYPED.search(form) and 'value="{{' not in form
    }
    assert open_forms == ELSEWHERE
