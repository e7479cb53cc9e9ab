"""Connecting, changing, testing, disabling and removing clusters; secrets are write-only."""

from __future__ import annotations

import pytest

from clusters.backend_options import Options, backend_kinds, checked, options_of
from clusters.backends import backend_of
from clusters.models import Cluster
from clusters.services import connections as c
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.models import Event
from tests.jobs.stage import submit

GIVEN = {"url": "https://slurm", "token": "s3cret-token", "port": "7000"}


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


@pytest.fixture
def cluster(dot) -> Cluster:
    return c.connect_cluster(actor=dot, name="big", backend="drainable", options=GIVEN)


def test_secret_is_encrypted_reaches_the_backend_and_is_in_no_event(cluster):
    row = Cluster.objects.get()
    assert row.config == {"url": "https://slurm", "port": 7000}
    assert b"s3cret" not in bytes(row.secrets)
    token = backend_of(row).options["token"]
    assert (token, repr(token)) == ("s3cret-token", "Secret('••••')")
    [event] = Event.objects.filter(kind="cluster.connected")
    assert event.actor == "dot@platform.example"
    assert "s3cret" not in str(event.data)


def test_form_follows_the_config_and_hides_fields_without_a_label():
    assert [(o.name, o.kind, o.is_required) for o in options_of("drainable")] == [
        ("url", "text", True),
        ("token", "secret", False),
        ("transport", "text", False),
        ("port", "whole", False),
        ("verify", "switch", False),
        ("proxy", "text", False),
        ("key", "secret", False),
    ]
    assert options_of("drainable")[2].choices == ("rest", "cli")
    assert {"local", "drainable"} <= {kind["name"] for kind in backend_kinds()}


WRONG = [
    ({}, "options.url"),
    ({"url": "x", "port": "many"}, "options.port"),
    ({"url": "x", "port": "1.5"}, "options.port"),
    ({"url": "x", "port": "inf"}, "options.port"),
    ({"url": "x", "verify": "perhaps"}, "options.verify"),
    ({"url": "x", "transport": "ssh"}, "options.transport"),
    ({"url": "x", "quiet": "y"}, "options.quiet"),
    ({"url": "a\x00b"}, "options.url"),
    ({"url": ["a"]}, "options.url"),
    ({"url": "x" * 20_001}, "options.url"),
]


def test_invalid_option_is_reported_at_its_field(subtests):
    for given, field in WRONG:
        with subtests.test(given=given, field=field):
            with pytest.raises(InvalidInput) as caught:
                checked("drainable", given)
            assert [error["field"] for error in caught.value.data["errors"]] == [field]


def test_data_folder_exposing_the_portals_files_is_refused(settings, tmp_path):
    (home := tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(home)
    settings.MUSTER_HOME = home
    above = [str(tmp_path), f"{tmp_path}/x/../home", f"{tmp_path}/link"]
    for path in ["/", "/etc", "/proc/1/root", *above, str(home), f"{home}/jobs", "data"]:
        with pytest.raises(InvalidInput) as caught:
            checked("local", {"paths": f"{tmp_path}/data {path}"})
        [error] = caught.value.data["errors"]
        assert error["field"] == "options.paths" and error["message"].startswith(f"{path} ")
    siblings = [f"{tmp_path}/data", f"{home}-2"]
    assert checked("local", {"paths": siblings}).plain["paths"] == siblings


def test_change_keeps_omitted_options_and_empty_secrets(cluster, dot):
    changed = c.change_cluster(
        actor=dot, cluster=cluster, options={"port": "", "token": "", "verify": False}
    )
    assert changed.config == {"url": "https://slurm", "verify": False}
    assert backend_of(changed).options["token"] == "s3cret-token"
    c.change_cluster(actor=dot, cluster=cluster, options={"token": "another"})
    assert backend_of(Cluster.objects.get()).options["token"] == "another"
    assert Event.objects.filter(kind="cluster.changed").latest("id").data["options"] == ["token"]


def test_secret_is_removed_only_by_none(cluster, dot):
    assert c.probe_options(
        actor=dot, backend="drainable", options={"token": None}, cluster=cluster
    ).message.endswith("with 0 letters of token")
    assert backend_of(Cluster.objects.get()).options["token"] == "s3cret-token"
    changed = c.change_cluster(actor=dot, cluster=cluster, options={"token": None})
    assert bytes(changed.secrets) == b"" and "token" not in backend_of(changed).options
    assert Event.objects.filter(kind="cluster.changed").latest("id").data["options"] == ["token"]


def test_required_secret_cannot_be_removed(cluster):
    with pytest.raises(InvalidInput, match="required"):
        checked("needy", {"key": None}, Options({}, {"key": "s3cret"}))


def test_connection_is_tested_before_storing_with_the_stored_secret(cluster, dot):
    found = c.probe_options(actor=dot, backend="drainable", options={"url": "there"})
    assert (found.is_ok, found.message) == (True, "reached there with 0 letters of token")
    kept = c.probe_options(
        actor=dot, backend="drainable", options={"url": "there"}, cluster=cluster
    )
    assert kept.message == "reached there with 12 letters of token"
    assert c.probe_cluster(actor=dot, cluster=cluster).message.startswith("reached https://slurm")
    assert Cluster.objects.count() == 1


def test_error_of_a_connection_test_is_its_result_and_quotes_no_secret(cluster, dot):
    found = c.probe_options(
        actor=dot, backend="drainable", options={"url": "broken"}, cluster=cluster
    )
    assert (found.is_ok, found.message) == (False, "RuntimeError: cannot use ••••")


def test_name_that_is_no_slug_is_refused(subtests, dot):
    for name in ["", "Big", "a b", "-a", "a-", "x" * 41, "a/b", "a\n"]:
        with subtests.test(name=name):
            with pytest.raises(InvalidInput):
                c.connect_cluster(actor=dot, name=name, backend="drainable", options=GIVEN)


def test_duplicate_name_or_settings_are_refused(cluster, dot):
    with pytest.raises(Conflict, match="already exists"):
        c.connect_cluster(actor=dot, name="big", backend="drainable", options={"url": "other"})
    with pytest.raises(Conflict, match="same settings"):
        c.connect_cluster(actor=dot, name="again", backend="drainable", options=GIVEN)


def test_only_operators_connect_clusters(story, cluster):
    ada = story.actor(story.ada)
    for act in (
        lambda: c.connect_cluster(actor=ada, name="a", backend="drainable", options=GIVEN),
        lambda: c.change_cluster(actor=ada, cluster=cluster, options={}),
        lambda: c.probe_cluster(actor=ada, cluster=cluster),
        lambda: c.enable_cluster(actor=ada, cluster=cluster, is_enabled=False),
        lambda: c.remove_cluster(actor=ada, cluster=cluster),
    ):
        with pytest.raises(NotPermitted):
            act()


def test_disable_and_enable_are_recorded_once_each(cluster, dot):
    for is_enabled in (False, False, True):
        c.enable_cluster(actor=dot, cluster=cluster, is_enabled=is_enabled)
    assert list(
        Event.objects.filter(subject_id=cluster.id).order_by("id").values_list("kind", flat=True)
    ) == ["cluster.connected", "cluster.disabled", "cluster.enabled"]


def test_unused_cluster_is_removed_and_one_with_jobs_is_kept(story, dot, cluster):
    c.remove_cluster(actor=dot, cluster=cluster)
    assert not Cluster.objects.exists()
    local = Cluster.objects.create(name="local", backend="local")
    submit(story)
    with pytest.raises(Conflict, match="1 job is active on local"):
        c.remove_cluster(actor=dot, cluster=local)
    assert Cluster.objects.exists()
    assert Event.objects.filter(kind="cluster.removed").count() == 1


def test_secret_with_a_lost_key_must_be_entered_again(cluster, dot, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a wholly new key", []
    changed = c.change_cluster(actor=dot, cluster=cluster, options={"token": "fresh"})
    assert backend_of(changed).options["token"] == "fresh"
