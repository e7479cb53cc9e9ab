"""Networks a token may be used from."""

from __future__ import annotations

import pytest

from portal.core.errors import InvalidInput
from tests.each import each
from workspaces.credentials.networks import are_within, is_within, parse_networks


@each(
    ("address", "networks", "is_in"),
    [
        ("10.1.2.3", ["10.1.0.0/16"], True),
        ("10.2.0.1", ["10.1.0.0/16"], False),
        ("10.2.0.1", ["192.0.2.1", "10.2.0.0/16"], True),
        ("::ffff:10.1.2.3", ["10.1.0.0/16"], True),  # as a dual-stack socket reports it
        ("2001:db8::5", ["2001:db8::/32"], True),
        ("2001:db9::5", ["2001:db8::/32", "0.0.0.0/0"], False),
        ("fe80::1%eth0", ["fe80::/10"], True),
        ("anything", [], True),
        ("", ["10.0.0.0/8"], False),
        ("unknown", ["0.0.0.0/0"], False),
        ("10.1.2.3, 6.6.6.6", ["10.1.0.0/16"], False),
    ],
)
def test_is_within_matches_addresses(address, networks, is_in):
    assert is_within(address, networks) is is_in


def test_networks_are_normalized():
    assert parse_networks([" 10.1.2.3/16", "10.1.0.0/16", "192.0.2.7", "2001:DB8::/32"]) == [
        "10.1.0.0/16",
        "192.0.2.7/32",
        "2001:db8::/32",
    ]


@each("text", ["", "10.0.0.0/33", "localhost", "10.0.0.1-10.0.0.9", "10.0.0.0/8 ; rm"])
def test_networks_invalid_are_rejected(text):
    with pytest.raises(InvalidInput):
        parse_networks([text])


def test_networks_above_fifty_are_rejected():
    assert len(parse_networks(f"10.0.{n}.0/24" for n in range(50))) == 50
    with pytest.raises(InvalidInput):
        parse_networks(f"10.0.{n}.0/24" for n in range(51))


@each(
    ("inner", "outer", "are_in"),
    [
        (["10.1.0.0/16"], ["10.0.0.0/8"], True),
        (["10.1.0.0/16", "192.0.2.1/32"], ["10.0.0.0/8"], False),
        ([], ["10.0.0.0/8"], False),
        (["10.0.0.0/8"], [], True),
        (["2001:db8::/48"], ["2001:db8::/32", "10.0.0.0/8"], True),
    ],
)
def test_are_within_compares_networks(inner, outer, are_in):
    assert are_within(inner, outer) is are_in
