"""Publishing live updates."""

from __future__ import annotations

from portal.core import streams
from portal.core.frames import Frame


def test_publish_all_with_unserializable_message_sends_the_others(monkeypatch):
    heard: list[Frame] = []
    bus = streams.LocalBus()
    monkeypatch.setattr(streams, "bus", lambda: bus)
    bus.subscribe("one", heard.append)
    bus.subscribe("two", heard.append)
    streams.publish_all([(("one",), {"n": 1}), (("one",), {"n": 1 << 70}), (("two",), {"n": 2})])
    assert [(frame.topic, frame.data) for frame in heard] == [
        ("one", b'{"n":1}'),
        ("two", b'{"n":2}'),
    ]
