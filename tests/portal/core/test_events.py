"""Events record who made the request."""

from __future__ import annotations

import pytest

from portal.core.events import (
    Caller,
    EventRecord,
    caller,
    changes,
    clean_address,
    on_behalf_of,
    record,
)
from portal.core.models import Event


@pytest.mark.django_db
def test_event_carries_address_and_credential_of_caller():
    token = caller.set(Caller("203.0.113.9", "session"))
    try:
        with on_behalf_of("ben@atlas.example"):
            record(EventRecord("thing.done", None, "thing", None, "dot@platform.example"))
        record(EventRecord("thing.done", None, "thing", None, "dot@platform.example"))
    finally:
        caller.reset(token)
    first, second = Event.objects.order_by("position")
    assert (first.address, first.via, first.on_behalf_of) == (
        "203.0.113.9",
        "session",
        "ben@atlas.example",
    )
    assert (second.address, second.on_behalf_of) == ("203.0.113.9", "")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:DB8::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", ""),
        ("unix:", ""),
        ("<script>", ""),
        ("203.0.113.9, 10.0.0.1", ""),
        (None, ""),
    ],
)
def test_clean_address_returns_ip_address_or_empty(text, address):
    assert clean_address(text) == address


def test_changes_keeps_only_differences():
    assert changes({"a": 1, "b": 2, "gone": 3}, {"a": 1, "b": 4, "new": None}) == {
        "before": {"b": 2, "gone": 3},
        "after": {"b": 4},
    }
    assert changes({}, {"new": 5}) == {"before": {}, "after": {"new": 5}}
