"""The operators' list of clusters: connecting with a test first, and no leak of secrets."""

from __future__ import annotations

import pytest

from clusters.backend_options import backend_kinds
from clusters.backends import backend_of, secrets_of
from clusters.models import Cluster
from tests.jobs.stage import submit

PAGE = "/platform/clusters"
CONNECT = f"{PAGE}/-/connect"
FORM = {
    "kind": "drainable",
    "name": "big",
    "url": "https://slurm",
    "token": "s3cret-token",
    "transport": "cli",
    "port": "7000",
    "verify": "on",
}


@pytest.fixture
def dot(story):
    return story.client(story.dot)


def test_form_has_a_field_for_every_option_of_the_chosen_kind(dot):
    text = dot.get(CONNECT, {"kind": "drainable"}).content.decode()
    assert '<input type="password" id="option-token" name="token"' in text
    assert (
        'name="verify" checked' in text and '<textarea class="mono masked" id="option-key"' in text
    )
    assert "<option selected>rest</option>" in text
    assert 'name="quiet"' not in text


def test_connection_test_stores_nothing_and_keeps_the_input(dot):
    text = dot.post(CONNECT, FORM | {"do": "test"}).content.decode()
    assert "reached https://slurm with 12 letters of token" in text
    assert 'value="7000"' in text and "s3cret" not in text
    assert not Cluster.objects.exists()


def test_connect_form_shows_the_cluster_or_keeps_the_input_on_error(dot):
    text = dot.post(CONNECT, FORM | {"do": "connect", "port": "many"}).content.decode()
    assert "must be a number" in text and 'value="many"' in text
    done = dot.post(CONNECT, FORM | {"do": "connect"}, follow=True).content.decode()
    assert "big is connected" in done and "Discovering nodes" in done and "s3cret" not in done
    assert '<h1 class="clip">big</h1>' in done
    assert Cluster.objects.get().config == {
        "url": "https://slurm",
        "transport": "cli",
        "port": 7000,
        "verify": True,
    }


def test_troubled_cluster_has_a_banner_and_an_unknown_kind_is_still_shown(dot):
    Cluster.objects.create(
        name="away", backend="drainable", trouble="no route to host", config={"url": "u"}
    )
    Cluster.objects.create(name="old", backend="gone-by")
    text = dot.get(PAGE).content.decode()
    assert "no route to host" in text and "Gone-by" in text


def test_cluster_is_tested_disabled_and_enabled_from_its_row(dot):
    Cluster.objects.create(name="big", backend="drainable", config={"url": "there"})
    assert "reached there" in dot.post(f"{PAGE}/big", {"do": "test"}, follow=True).content.decode()
    assert (
        "takes no new jobs"
        in dot.post(f"{PAGE}/big", {"do": "disable"}, follow=True).content.decode()
    )
    assert not Cluster.objects.get().is_enabled
    dot.post(f"{PAGE}/big", {"do": "enable"})
    assert Cluster.objects.get().is_enabled


def test_error_is_shown_at_its_field_and_unfolds_advanced_options(dot):
    shown = dot.post(
        CONNECT, FORM | {"do": "connect", "port": "many", "url": "", "proxy": "not\x01one"}
    )
    step = shown.context["steps"][0]
    assert {f["name"]: f["fault"] for f in (*step["plain"], *step["rare"]) if f["fault"]} == {
        "url": "is required",
        "port": "must be a number",
        "proxy": "must not hold control characters",
    }
    assert shown.context["error"] == "" and step["is_unfolded"]
    assert '<small class="error" role="alert">must be a number</small>' in shown.content.decode()
    assert [c.label for c in shown.context["checks"]] == ["Address", "Port", "Proxy"]
    assert not dot.get(CONNECT, {"kind": "drainable"}).context["steps"][0]["is_unfolded"]
    Cluster.objects.create(name="big", backend="drainable", config={"url": "other"})
    got = dot.post(CONNECT, FORM | {"do": "connect"}).context
    assert "already exists" in got["faults"]["name"]


def test_unreachable_cluster_is_stored_only_if_confirmed(dot):
    broken = FORM | {"url": "broken"}
    text = dot.post(CONNECT, broken | {"do": "connect"}).content.decode()
    assert "RuntimeError: cannot use ••••" in text and "Connect anyway" in text
    assert not Cluster.objects.exists()
    assert (
        "big is connected"
        in dot.post(CONNECT, broken | {"anyway": "1"}, follow=True).content.decode()
    )


@pytest.fixture
def big(dot):
    dot.post(CONNECT, FORM | {"do": "connect", "key": "line one\r\nline two\r\n"})
    return Cluster.objects.get()


def test_edit_keeps_an_empty_secret_and_removes_a_ticked_one(dot, big):
    assert backend_of(big).options["key"] == "line one\nline two\n"
    page = dot.get(f"{PAGE}/big/edit").content.decode()
    assert (
        'value="7000"' in page
        and page.count("stored; leave empty to keep it") == page.count("Remove the stored one") == 2
    )
    form = {
        "do": "save",
        "url": "there",
        "transport": "cli",
        "port": "",
        "token": "",
        "verify": "on",
        "remove": "key",
    }
    assert "big was updated" in dot.post(f"{PAGE}/big/edit", form, follow=True).content.decode()
    row = Cluster.objects.get()
    assert row.config == {"url": "there", "transport": "cli", "verify": True}
    assert secrets_of(row) == {"token": "s3cret-token"}
    dot.post(f"{PAGE}/big/edit", form | {"remove": ["token", "key"], "token": "fresh"})
    assert secrets_of(Cluster.objects.get()) == {"token": "fresh"}


def test_edit_stores_no_default_that_was_never_set(dot):
    row = Cluster.objects.create(name="bare", backend="drainable", config={"url": "u"})
    dot.post(
        f"{PAGE}/bare/edit",
        {"do": "save", "url": "u", "transport": "rest", "verify": "on", "port": ""},
    )
    row.refresh_from_db()
    assert row.config == {"url": "u"}


def test_edit_names_dependent_jobs_and_stores_nothing_that_fails_its_test(story, dot, big):
    submit(story)
    assert "One job is active on this cluster" in dot.get(f"{PAGE}/big/edit").content.decode()
    form = {"do": "save", "url": "broken", "transport": "cli"}
    assert "Save anyway" in dot.post(f"{PAGE}/big/edit", form).content.decode()
    assert Cluster.objects.get().config["url"] == "https://slurm"
    dot.post(f"{PAGE}/big/edit", form | {"anyway": "1"})
    assert Cluster.objects.get().config["url"] == "broken"


def test_multiline_secret_is_no_password_field():
    long = {
        (kind["name"], o["name"])
        for kind in backend_kinds()
        for o in kind["options"]
        if o["is_long"]
    }
    assert long >= {
        ("kubernetes", "kubeconfig"),
        ("kubernetes", "authority"),
        ("slurm", "ssh_key"),
        ("slurm", "rest_key"),
    }
