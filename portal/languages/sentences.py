"""English sentences of ours in the reader's language, at the moment they are shown.

What is stored, logged and told to programs is English; this finds the message that a sentence was made from by what it says:
"Vision is changed." is "{name} is changed." with a name in it. What no catalogue knows stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

from django.utils.translation import get_language
from django.utils.translation.trans_real import translation

from portal.languages import amounts, states

_FIELD = re.compile(r"\{(\w+)\}")
LONGEST, MANY, TOGETHER = (
    2000,
    40,
    6,
)  # characters of a sentence, sentences of a text, those that are one message
_GLUE = {
    "is",
    "are",
    "has",
    "have",
    "does",
    "do",
    "s",
    "session",
    "sessions",
}  # English grammar, and nothing to say elsewhere
_NAMED = re.compile(r"([a-z][a-z0-9_.\[\]]{0,40}): ([^A-Z].*)", re.DOTALL)  # "slug: must be …"
_END = re.compile(r"(?<=[.!?…]) +(?=[A-Z\"“{#`0-9])")


def told(text: str) -> str:
    """The same in the language that is active; English as it came."""
    language = get_language() or "en"
    return (
        text
        if language.startswith("en")
        else states.told(text) or amounts.told(text) or _told(language, text)
    )


@lru_cache(8192)
def _told(language: str, text: str) -> str:
    bare = text.strip()
    found = _of_field(language, bare) or _whole(language, bare) if len(bare) <= LONGEST else None
    if found is None and 1 < len(parts := _END.split(bare)) <= MANY:
        found = _in_parts(language, parts)
    return text if found is None else text.replace(bare, found, 1)


def _of_field(language: str, text: str) -> str | None:
    """What is wrong with a field: its name stays."""
    at = _NAMED.match(text)
    said = _whole(language, at[2]) if at else None
    return f"{at[1]}: {said}" if at and said else None


def _in_parts(language: str, parts: list[str]) -> str:
    """Several sentences one after another: the longest that is known first."""
    said: list[str] = []
    while parts:
        for size in range(min(len(parts), TOGETHER), 0, -1):
            if (found := _whole(language, " ".join(parts[:size]))) is not None:
                break
        said.append(parts[0] if found is None else found)
        parts = parts[1 if found is None else size :]
    return " ".join(said).replace("。 ", "。")


def _whole(language: str, text: str) -> str | None:
    known, shapes = _catalogue(language)
    if text in known:
        return known[text]
    for shape, said in shapes:
        if (parts := _parts(shape, text)) is not None and not (
            shape[0] == "" and _is_sentence_first(language, parts[shape[1]])
        ):
            return _filled(said, {name: _inner(language, part) for name, part in parts.items()})
    return None


def _is_sentence_first(language: str, name: str) -> bool:
    """What would be a name at the beginning is a sentence of ours and the beginning of the next one."""
    ends = _END.search(name)
    return ends is not None and _whole(language, name[: ends.start()]) is not None


def _parts(shape: list[str], text: str) -> dict[str, str] | None:
    """What stands at a message's placeholders; the same placeholder twice says the same twice. Each fixed piece is taken where it is first
    found, so the time is the text's length: a pattern that tries all ways would be somebody's way to keep a page from its readers."""
    at, end, found = len(shape[0]), len(text) - len(shape[-1]), dict[str, str]()
    if at > end or not text.startswith(shape[0]) or not text.endswith(shape[-1]):
        return None
    for nth in range(1, len(shape), 2):
        stop = end if nth + 2 == len(shape) else text.find(shape[nth + 1], at, end)
        if stop < 0 or found.setdefault(shape[nth], text[at:stop]) != text[at:stop]:
            return None
        at = stop + len(shape[nth + 1])
    return found


def _filled(said: str, parts: dict[str, str]) -> str:
    return "".join(
        parts.get(piece, "") if at % 2 else _plain_inside(piece)
        for at, piece in enumerate(_FIELD.split(said))
    )


def _inner(language: str, text: str) -> str:
    """What stands in a sentence: names stay; an amount, or a sentence within it, is told as well."""
    if text in _GLUE:
        return ""
    return (amounts.told(text) or _told(language, text)) if " " in text else text


@lru_cache(8)
def _catalogue(language: str) -> tuple[dict[str, str], list[tuple[list[str], str]]]:
    """Sentences without computed parts by their English; the others as fixed pieces with names between, the most particular first."""
    plain: dict[str, str] = {}
    shapes: list[tuple[list[str], str]] = []
    for english, said in _messages(language):
        if _FIELD.search(english):
            pieces = _FIELD.split(english.strip())
            shapes.append(
                (
                    [piece if at % 2 else _plain_inside(piece) for at, piece in enumerate(pieces)],
                    said.strip(),
                )
            )
        else:
            plain.setdefault(
                _plain(english), said.strip()
            )  # ours come before what Django and its applications say
    shapes.sort(key=lambda s: -sum(map(len, s[0][::2])))
    return plain, shapes


def _messages(language: str) -> list[tuple[str, str]]:
    known = cast("Any", translation(language))._catalog  # noqa: SLF001  Django has no other door to a whole catalogue
    return [
        (key, said)
        for key, said in known.items()
        if isinstance(key, str) and key and said and "\x04" not in key and "%(" not in key
    ]


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}").replace("%%", "%").strip()


def _plain_inside(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}").replace("%%", "%")
