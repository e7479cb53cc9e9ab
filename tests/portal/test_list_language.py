"""The text language of lists: texts, terms and the parameters of a URL."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.lists import JOBS
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.times import period, zone, zone_named
from portal.list_language import Term, Value, parse, values, words, written, written_values
from portal.lists import MAX_TEXT

ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
SHORT = st.text('ab ,:!-"\\é', min_size=1, max_size=6).filter(str.strip)


def term(keys):
    """Return terms: a key with values, or a single word."""
    keyed = st.builds(Term, keys, st.lists(SHORT, min_size=1, max_size=3).map(tuple), st.booleans())
    word = st.builds(lambda text, no: Term("", (text,), no), SHORT, st.booleans())
    return keyed | word


@given(st.lists(term(st.sampled_from(["state", "user", "x-y"])), max_size=4))
def test_written_terms_are_parsed_to_the_same_terms(terms):
    assert parse(written(terms)) == terms


@given(st.lists(st.builds(Value, SHORT.map(str.strip), st.booleans()), max_size=4))
def test_written_values_are_parsed_to_the_same_values(found):
    assert values(written_values(found)) == list(dict.fromkeys(found))


@given(ANY)
def test_any_text_parses_and_its_canonical_form_is_stable(text):
    once = written(parse(text))
    assert written(parse(once)) == once
    values(text)
    words(text)


MULTIPLE = [f.name for f in JOBS.filters if f.is_multiple]


@given(
    st.lists(term(st.sampled_from(["state", "user", "team", "gpu", "name", "since"])), max_size=4)
)
def test_text_and_parameters_of_a_list_say_the_same(terms):
    parsed = JOBS.parsed(written(terms)[:MAX_TEXT])
    text = JOBS.text(parsed.filters)
    assert JOBS.parsed(text).filters == JOBS.parsed(JOBS.text(JOBS.parsed(text).filters)).filters
    again = JOBS.parsed(text)
    assert again.problems == []
    for name, value in parsed.filters.items():
        if name in MULTIPLE:
            assert set(values(again.filters[name])) == set(values(value))
        else:
            assert again.filters[name] == value


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        (
            "state:failed user:me team:vision gpu:h100 llm -name:test",
            {
                "state": "failed",
                "owner": "me",
                "team": "vision",
                "gpu": "h100",
                "q": "llm",
                "name": "!test",
            },
        ),
        ("state:failed state:running -state:held", {"state": "failed,running,!held"}),
        ('label:"team:a b" "two words" -not', {"label": "team:a b", "q": '"two words" -not'}),
        ('name:"a, b"', {"name": '"a, b"'}),
        ("owner:ada@atlas.example", {"owner": "ada@atlas.example"}),
        ("since:7d #12", {"since": "7d", "q": "#12"}),
        ("state:", {}),
        ("  ", {}),
    ],
)
def test_text_means_these_parameters(text, filters):
    parsed = JOBS.parsed(text)
    assert (parsed.filters, parsed.problems) == (filters, [])


NOON = datetime(2026, 11, 4, 3, tzinfo=UTC)  # a Wednesday, noon in Seoul


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("today", "2026-11-04", "2026-11-05"),
        ("Yesterday", "2026-11-03", "2026-11-04"),
        ("wednesday", "2026-11-04", "2026-11-05"),
        ("last wednesday", "2026-10-28", "2026-10-29"),
        ("last  Mon", "2026-11-02", "2026-11-03"),
        ("this week", "2026-11-02", "2026-11-09"),
        ("last-week", "2026-10-26", "2026-11-02"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("2026-02", "2026-02-01", "2026-03-01"),
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-11-01", "2026-11-01", "2026-11-02"),
        ("2026-11-01t12:00", "2026-11-01T12:00", "2026-11-01T12:00"),
        ("2w ago", "2026-10-21T12:00", "2026-11-04T12:00"),
        ("90 min", "2026-11-04T10:30", "2026-11-04T12:00"),
    ],
)
def test_time_means_this_period_in_the_zone_of_the_reader(text, begin, end):
    seoul = zone_named("Asia/Seoul")
    token = zone.set(seoul)
    try:
        with clock.frozen(NOON):
            found = period("on", text)
    finally:
        zone.reset(token)
    wanted = (datetime.fromisoformat(at).replace(tzinfo=seoul) for at in (begin, end))
    assert found == tuple(wanted)


@given(ANY)
def test_any_text_is_a_time_or_invalid_input(text):
    with suppress(InvalidInput):
        begin, end = period("on", text)
        assert begin <= end
