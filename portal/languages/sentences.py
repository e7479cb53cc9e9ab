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

from portal.languages import states

_FIELD = re.compile(r"\{(\w+)\}")
_END = re.compile(r"(?<=[.!?…]) +(?=[A-Z\"“{#`0-9])")


def told(text: str) -> str:
    """The same in the language that is active; English as it came."""
    language = get_language() or "en"
    return text if language.startswith("en") else states.told(text) or _told(language, text)


@lru_cache(8192)
def _told(language: str, text: str) -> str:
    bare = text.strip()
    found = _whole(language, bare)
    if found is None and len(parts := _END.split(bare)) > 1:
        found = _in_parts(language, parts)
    return text if found is None else text.replace(bare, found, 1)


def _in_parts(language: str, parts: list[str]) -> str:
    """Several sentences one after another: the longest that is known first."""
    said: list[str] = []
    while parts:
        for size in range(len(parts), 0, -1):
            if (found := _whole(language, " ".join(parts[:size]))) is not None:
                break
        said.append(parts[0] if found is None else found)
        parts = parts[1 if found is None else size:]
    return " ".join(said)


def _whole(language: str, text: str) -> str | None:
    known, shapes = _catalogue(language)
    if text in known:
        return known[text]
    for shape, prefix, said in shapes:
        if text.startswith(prefix) and (match := shape.fullmatch(text)):
            return _filled(said, {name[1:]: _inner(language, part) for name, part in match.groupdict().items()})
    return None


def _filled(said: str, parts: dict[str, str]) -> str:
    return "".join(parts.get(piece, "") if at % 2 else _plain_inside(piece) for at, piece in enumerate(_FIELD.split(said)))


def _inner(language: str, text: str) -> str:
    """What stands in a sentence: names stay, a sentence within it is told as well."""
    return _told(language, text) if " " in text else text


@lru_cache(8)
def _catalogue(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str, str]]]:
    """Sentences without computed parts by their English; the others as shapes, the most particular first."""
    plain: dict[str, str] = {}
    shapes: list[tuple[int, re.Pattern[str], str, str]] = []
    for english, said in _messages(language):
        if _FIELD.search(english):
            shapes.append((len(_FIELD.sub("", english)), _shape(english), _plain(_FIELD.split(english)[0]), said))
        else:
            plain[_plain(english)] = said.strip()
    shapes.sort(key=lambda s: -s[0])
    return plain, [(pattern, prefix.lstrip(), said.strip()) for _, pattern, prefix, said in shapes]


def _messages(language: str) -> list[tuple[str, str]]:
    known = cast("Any", translation(language))._catalog      # noqa: SLF001  Django has no other door to a whole catalogue
    return [(key, said) for key, said in known.items() if isinstance(key, str) and key and said and "\x04" not in key and "%(" not in key]


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}").replace("%%", "%").strip()


def _shape(english: str) -> re.Pattern[str]:
    """What a message may have become; the same placeholder twice says the same twice."""
    seen: set[str] = set()
    return re.compile("".join(_field(piece, seen) if at % 2 else re.escape(_plain_inside(piece))
                              for at, piece in enumerate(_FIELD.split(english.strip()))), re.DOTALL)


def _field(name: str, seen: set[str]) -> str:
    if name in seen:
        return f"(?P=_{name})"
    seen.add(name)
    return f"(?P<_{name}>.*?)"


def _plain_inside(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}").replace("%%", "%")
