"""LIKE of SQLite, which the portal replaces."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from portal.core.sqlite import like


@given(st.text("aÉ%_!", max_size=8), st.text("aAéÉ", max_size=8))
def test_like_agrees_with_a_regular_expression(pattern, text):
    parts, expression, characters = {"%": ".*", "_": "."}, "", iter(pattern)
    for character in characters:
        if character == "!":
            expression += re.escape(next(characters, ""))
        else:
            expression += parts.get(character) or re.escape(character)
    expected = re.fullmatch(expression, text, re.IGNORECASE | re.DOTALL) is not None
    assert like(pattern, text, "!") is expected


def test_like_of_many_wildcards_needs_no_backtracking_and_null_is_null():
    assert like("%a" * 2000 + "b", "a" * 50_000) is False  # for ever with backtracking
    assert like(None, "a") is None and like("a", None) is None
