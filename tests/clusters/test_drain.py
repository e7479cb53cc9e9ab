"""Draining and resuming nodes."""

from __future__ import annotations

import pytest

from clusters.models import Cluster, Node
from clusters.services import drain as d
from clusters.web.cluster import _UNDO
from portal.core.errors import Conflict, InvalidInput, NotPermitted, Unavailable
from portal.core.models import Event


@pytest.fixture
def node(story) -> Node:
    cluster = Cluster.objects.create(name="big", backend="drainable", config={"url": "u"})
    return Node.objects.create(cluster=cluster, name="n1", cpus=1, memory=1)


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def test_drain_calls_the_scheduler_and_records_who_and_why(node, dot, drainable):
    d.drain_node(actor=dot, node=node, why="fan is loud")
    d.resume_node(actor=dot, node=node)
    assert drainable.calls == [
        ("drain", "n1", "fan is loud (dot@platform.example)"),
        ("resume", "n1"),
    ]
    drained, resumed = Event.objects.filter(subject_id=node.id).order_by("id")
    assert (drained.kind, drained.data["why"], resumed.kind) == (
        "node.drained",
        "fan is loud",
        "node.resumed",
    )
    assert Node.objects.get().state == "ready"


def test_drained_node_shows_its_state_at_once(node, dot):
    d.drain_node(actor=dot, node=node, why="fan")
    row = Node.objects.get()
    assert (row.state, row.note) == ("drained", "fan (dot@platform.example)")


@pytest.mark.parametrize("why", ["", "  ", "x" * 201, "a\nb"])
def test_drain_requires_a_reason(node, dot, why, drainable):
    with pytest.raises(InvalidInput):
        d.drain_node(actor=dot, node=node, why=why)
    assert drainable.calls == []


def test_refused_or_unanswered_drain_changes_nothing(node, dot, drainable, monkeypatch):
    monkeypatch.setattr(drainable, "is_away", True)
    with pytest.raises(Unavailable, match="no answer"):
        d.drain_node(actor=dot, node=node, why="fan")
    monkeypatch.setattr(drainable, "is_away", False)
    Node.objects.update(name="stuck")
    node.refresh_from_db()
    with pytest.raises(Conflict, match="no such node"):
        d.drain_node(actor=dot, node=node, why="fan")
    assert Node.objects.get().state == "ready"
    assert not Event.objects.filter(kind="node.drained").exists()


def test_cluster_without_a_scheduler_cannot_drain(node, dot):
    Cluster.objects.update(backend="local")
    with pytest.raises(Conflict, match="Disable the cluster"):
        d.drain_node(actor=dot, node=Node.objects.select_related("cluster").get(), why="fan")


def test_only_operators_drain(node, story, drainable):
    with pytest.raises(NotPermitted):
        d.drain_node(actor=story.actor(story.ada), node=node, why="fan")
    assert drainable.calls == []


def test_undo_leaves_the_drain_of_somebody_else(node, story, drainable):
    web, page = story.client(story.dot), "/platform/clusters/big/nodes/n1"
    web.post(page, {"do": "drain", "reason": "fan"})
    undo = {"do": "resume", "was": web.session[_UNDO]["was"]}
    Node.objects.update(is_drained=True, note="Reason: fan (dot@platform.example) [slurm@10:00]")
    web.post(page, undo)
    assert not Node.objects.get().is_drained
    web.post(page, {"do": "drain", "reason": "fan"})
    Node.objects.update(note="disk (eve@platform.example)")
    web.post(page, undo)
    web.post(page, {"do": "drain", "reason": "mine", "was": ""})
    assert (Node.objects.get().note, Node.objects.get().is_drained) == (
        "disk (eve@platform.example)",
        True,
    )
