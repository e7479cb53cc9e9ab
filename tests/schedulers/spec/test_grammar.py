"""Test the parsing and formatting of sizes, durations and ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedulers.spec import grammar

SIZES = [
    ("64Gi", 64 << 30),
    ("64G", 64 << 30),
    ("64GiB", 64 << 30),
    ("512GB", 512 * 10**9),
    ("1500Mi", 1500 << 20),
    ("64", 64 << 30),
    (64, 64 << 30),
    ("64+", 64 << 30),
    ("0.5", 1 << 29),
    (0.5, 1 << 29),
    ("1.5Ti", 3 << 39),
    ("10B", 10),
    ("100k", 100 << 10),
    ("1kb", 1000),
    (" 2 gi ", 2 << 30),
    ("9007199254740993B", 9007199254740993),
]
DURATIONS = [
    ("24h", 86400),
    ("1d12h", 129600),
    ("30m", 1800),
    ("90", 90),
    (90, 90),
    ("1.5h", 5400),
    ("1d 2h 3m 4s", 93784),
    ("0s", 0),
    ("2D", 172800),
]
NEITHER = [
    "",
    "h",
    "-1h",
    "1x",
    "1h1h",
    "5m1h",
    "1e3",
    "٣h",
    "1 0h",
    "0.1s",
    "nan",
    "inf",
    "1h30",
    "1" * 50 + "s",
]


def test_size_is_parsed_in_bytes(subtests: pytest.Subtests) -> None:
    for text, size in SIZES:
        with subtests.test(text=text, size=size):
            assert grammar.parse_size(text) == size


NO_SIZES = ["", "Gi", "-1Gi", "1Xi", "1e9", "1 2", "64++", "٣Gi", "0x10", "1" * 50, float("inf")]


def test_invalid_size_is_rejected(subtests: pytest.Subtests) -> None:
    for text in NO_SIZES:
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="must be a size"):
                grammar.parse_size(text)


def test_duration_is_parsed_in_seconds(subtests: pytest.Subtests) -> None:
    for text, seconds in DURATIONS:
        with subtests.test(text=text, seconds=seconds):
            assert grammar.parse_duration(text) == seconds


def test_invalid_duration_is_rejected(subtests: pytest.Subtests) -> None:
    for text in NEITHER:
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="must"):
                grammar.parse_duration(text)


@given(st.integers(0, 1 << 60))
def test_size_and_duration_round_trip(number: int) -> None:
    assert grammar.parse_size(grammar.format_size(number)) == number
    assert grammar.parse_duration(grammar.format_duration(number % 10**9)) == number % 10**9


def test_size_is_formatted_in_natural_unit() -> None:
    written = [
        grammar.format_size(size) for size in (64 << 30, 512 * 10**9, 1500 << 20, 1001, 0, 1 << 50)
    ]
    assert written == ["64Gi", "512GB", "1500Mi", "1001B", "0B", "1Pi"]


@given(st.lists(st.integers(0, 9999), min_size=1, max_size=30, unique=True))
def test_range_round_trips(ids: list[int]) -> None:
    parts = grammar.parse_range(",".join(map(str, sorted(ids))), 10_000)
    assert [number for part in parts for number in part] == sorted(ids)
    assert grammar.parse_range(grammar.format_range(parts), 10_000) == parts


NO_RANGES = ["", "a", "1-", "-1", "3-1", "1,1", "1-5,3", "1:2", "1-9:0", "0-10000", "1;2"]


def test_invalid_range_is_rejected(subtests: pytest.Subtests) -> None:
    for text in NO_RANGES:
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="must"):
                grammar.parse_range(text, 10_000)
