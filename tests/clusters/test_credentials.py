"""Uses of a credential are recorded, at a bounded rate."""

from __future__ import annotations

import pytest

from clusters.models import Cluster
from clusters.services import connections as c
from clusters.services import credentials
from portal.core.models import Event


@pytest.fixture
def cluster(story) -> Cluster:
    dot = story.actor(story.dot, story.atlas)
    return c.connect_cluster(
        actor=dot,
        name="big",
        backend="drainable",
        options={"url": "https://slurm", "token": "s3cret-token"},
    )


def recorded_uses() -> list[Event]:
    return list(Event.objects.filter(kind="cluster.credential_used").order_by("position"))


def test_credential_use_is_recorded_once_per_kind(cluster, monkeypatch):
    for _ in range(3):
        credentials.note_use(cluster, "to submit jobs")
        credentials.note_use(cluster, "to watch jobs and nodes")
    monkeypatch.setattr(credentials, "_next", {})  # as in another process
    credentials.note_use(cluster, "to submit jobs")
    assert [fact.data["use"] for fact in recorded_uses()] == [
        "to submit jobs",
        "to watch jobs and nodes",
    ]
    assert recorded_uses()[0].data["secrets"] == ["token"] and "s3cret" not in str(
        [fact.data for fact in recorded_uses()]
    )


def test_changed_credential_is_recorded_again(cluster, story):
    credentials.note_use(cluster, "to submit jobs")
    changed = c.change_cluster(
        actor=story.actor(story.dot, story.atlas),
        cluster=cluster,
        options={"token": "an0ther-token"},
    )
    credentials.note_use(changed, "to submit jobs")
    assert len(recorded_uses()) == 2


def test_cluster_without_credentials_records_nothing(story):
    credentials.note_use(
        Cluster.objects.create(name="plain", backend="drainable", config={"url": "u"}),
        "to submit jobs",
    )
    assert recorded_uses() == []


def test_failed_record_does_not_affect_the_use(cluster, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(credentials, "_record_use", broken)
    credentials.note_use(cluster, "to submit jobs")
