"""The text language of lists: `state:failed,running user:me llm -name:test`.

A text is a sequence of terms. `key:value` narrows by the filter with that key, other words search,
and a leading `-` excludes. Values are separated by commas; quotes keep spaces, commas and colons.
In a URL, the values of one filter are one parameter, where `!` excludes: `state=failed,!canceled`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_KEY = re.compile(r"[a-z][a-z0-9_-]*:")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"?', re.DOTALL)
_IN_TEXT, _IN_LIST = re.compile(r"[^\s,]*"), re.compile(r"[^,]*")


class Value(NamedTuple):
    """A value of a filter; a negative one excludes its rows."""

    text: str
    is_negative: bool = False


class Term(NamedTuple):
    """A part of a text; words that search have no key."""

    key: str
    values: tuple[str, ...]
    is_negative: bool = False


def parse(text: str) -> list[Term]:
    """Return the terms of a text. Any text is valid; a quote that is not closed ends at the end."""
    terms, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        is_negative = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
        at += is_negative
        key = _KEY.match(text, at)
        if key is None:
            word, at = _word(text, at)
            values: tuple[str, ...] = (word,)
        else:
            values, at = _values(text, key.end())
        if any(values):
            terms.append(Term(key[0][:-1] if key else "", values, is_negative))
    return terms


def words(text: str) -> list[Value]:
    """Return the words of a search; `-` excludes, quotes keep spaces."""
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        is_negative = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
        word, at = _word(text, at + is_negative)
        if word:
            found.append(Value(word, is_negative))
    return found


def values(text: str) -> list[Value]:
    """Return the values of a filter's parameter: separated by commas, excluded by `!`."""
    found, at = [], 0
    while at < len(text):
        while at < len(text) and (text[at] == "," or text[at].isspace()):
            at += 1
        is_negative = text.startswith("!", at)
        value, at = _value(text, at + is_negative, _IN_LIST)
        if value := value.strip():
            found.append(Value(value, is_negative))
    return found


def written(terms: Iterable[Term]) -> str:
    """Return the text of terms; `parse` returns the same terms."""
    return " ".join(
        ("-" if term.is_negative else "")
        + (
            f"{term.key}:{','.join(_quoted(v, ' ,') for v in term.values)}"
            if term.key
            else _quoted_word(term.values[0], is_key_possible=True)
        )
        for term in terms
    )


def written_words(found: Iterable[Value]) -> str:
    """Return the parameter of a search; `words` returns the same words."""
    return " ".join(("-" if v.is_negative else "") + _quoted_word(v.text) for v in found)


def written_values(found: Iterable[Value]) -> str:
    """Return the parameter of a filter, each value once; `values` returns the same values."""
    unique = dict.fromkeys(found)
    return ",".join(("!" if v.is_negative else "") + _quoted(v.text, ",") for v in unique)


def _word(text: str, at: int) -> tuple[str, int]:
    if quoted := _QUOTED.match(text, at):
        return _unescaped(quoted[1]), quoted.end()
    end = at
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[at:end], end


def _values(text: str, at: int) -> tuple[tuple[str, ...], int]:
    found = []
    while True:
        value, at = _value(text, at, _IN_TEXT)
        if value:
            found.append(value)
        if not text.startswith(",", at):
            return tuple(found), at
        at += 1


def _value(text: str, at: int, plain: re.Pattern[str]) -> tuple[str, int]:
    if quoted := _QUOTED.match(text, at):
        return _unescaped(quoted[1]), quoted.end()
    found = plain.match(text, at)
    assert found is not None  # the patterns match the empty text
    return found[0], found.end()


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _quoted(value: str, ends: str) -> str:
    is_plain = (
        value
        and value[0] not in '"!'
        and value == value.strip()
        and not any(c in ends or (c.isspace() and " " in ends) for c in value)
    )
    return value if is_plain else _in_quotes(value)


def _quoted_word(word: str, *, is_key_possible: bool = False) -> str:
    is_plain = (
        word
        and word[0] not in '"-'
        and not any(c.isspace() for c in word)
        and not (is_key_possible and _KEY.match(word))
    )
    return word if is_plain else _in_quotes(word)


def _in_quotes(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
