"""The operators' page: connecting by its form, testing first, and what it never shows."""

from __future__ import annotations

import pytest

from clusters.models import Cluster

PAGE = "/atlas/clusters"
FORM = {"kind": "drainable", "name": "big", "url": "https://slurm", "token": "s3cret-token", "transport": "cli", "port": "7000", "verify": "on"}


@pytest.fixture
def dot(story):
    return story.client(story.dot)


def test_the_form_has_a_field_for_every_option_of_the_kind_chosen(dot):
    text = dot.get(PAGE, {"kind": "drainable"}).content.decode()
    assert 'type="password" name="token"' in text
    assert 'name="verify" checked' in text
    assert "<option selected>rest</option>" in text
    assert 'name="quiet"' not in text


def test_a_connection_is_tested_with_nothing_stored_and_what_was_typed_stays(dot):
    text = dot.post(PAGE, FORM | {"do": "test"}).content.decode()
    assert "reached https://slurm with 12 letters of token" in text
    assert 'value="7000"' in text and "s3cret" not in text
    assert not Cluster.objects.exists()


def test_connecting_shows_the_cluster_and_a_fault_keeps_what_was_typed(dot):
    text = dot.post(PAGE, FORM | {"do": "connect", "port": "many"}).content.decode()
    assert "must be a number" in text and 'value="many"' in text
    done = dot.post(PAGE, FORM | {"do": "connect"}, follow=True).content.decode()
    assert "big is connected" in done and "not seen yet" in done and "s3cret" not in done
    assert Cluster.objects.get().config == {"url": "https://slurm", "transport": "cli", "port": 7000, "verify": True}


def test_a_cluster_in_trouble_has_a_banner_and_one_of_a_kind_no_longer_known_is_still_shown(dot):
    Cluster.objects.create(name="away", backend="drainable", trouble="no route to host", config={"url": "u"})
    Cluster.objects.create(name="old", backend="gone-by")
    text = dot.get(PAGE).content.decode()
    assert "no route to host" in text and "gone-by" in text


def test_a_cluster_is_tested_and_switched_off_and_on_from_its_row(dot):
    Cluster.objects.create(name="big", backend="drainable", config={"url": "there"})
    assert "reached there" in dot.post(f"{PAGE}/big", {"do": "test"}, follow=True).content.decode()
    assert "takes no new jobs" in dot.post(f"{PAGE}/big", {"do": "disable"}, follow=True).content.decode()
    assert not Cluster.objects.get().is_enabled
    dot.post(f"{PAGE}/big", {"do": "enable"})
    assert Cluster.objects.get().is_enabled
