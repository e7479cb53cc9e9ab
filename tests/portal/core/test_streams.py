"""Publishing live updates."""

from __future__ import annotations

from portal.core import streams
from portal.core.frames import Frame


def test_publish_all_with_unserializable_message_sends_the_others(monkeypatch):
    received: list[Frame] = []
    bus = streams.LocalBus()
    monkeypatch.setattr(streams, "bus", lambda: bus)
    bus.subscribe("one", received.append)
    bus.subscribe("two", received.append)
    streams.publish_all([(("one",), {"n": 1}), (("one",), {"n": 1 << 70}), (("two",), {"n": 2})])
    assert [(frame.topic, frame.data) for frame in received] == [
        ("one", b'{"n":1}'),
        ("two", b'{"n":2}'),
    ]
