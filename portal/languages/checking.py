"""Whether a catalogue may be shown to people: complete, in step with the sources, and safe to put into a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from portal.languages.catalogue import Message

_FIELDS = re.compile(r"%\(\w+\)[sdr]|\{\w+\}")
_TAGS = re.compile(r"</?[a-z][^>]*>")
_HANGUL, _KANA = re.compile(r"[가-힣]"), re.compile(r"[ぁ-ヿ]")

Messages = Mapping[tuple[str, str], Message]


def faults(language: str, sources: Messages, catalogue: Messages) -> Iterator[str]:
    """Each in a line that names the message."""
    for key in sources.keys() - catalogue.keys():
        yield f"{language}: not there (make messages): {key[1]!r} of {_where(sources[key])}"
    for key in catalogue.keys() - sources.keys():
        yield f"{language}: no longer used (make messages): {key[1]!r}"
    for key in sorted(sources.keys() & catalogue.keys()):
        for fault in _wrong(language, catalogue[key]):
            yield f"{language}: {fault}: {key[1]!r} of {_where(sources[key])}"


def _wrong(language: str, message: Message) -> Iterator[str]:
    if not message.said.strip():
        yield "not translated"
        return
    if message.is_fuzzy:
        yield "fuzzy: look at it and take the mark away"
    english = message.plural or message.id
    if set(_FIELDS.findall(english)) != set(_FIELDS.findall(message.said)):
        yield f"other placeholders than the English: {message.said!r}"
    if Counter(_TAGS.findall(english)) != Counter(_TAGS.findall(message.said)):
        yield f"other tags than the English: {message.said!r}"
    if (language == "ja" and _HANGUL.search(message.said)) or (
        language == "ko" and _KANA.search(message.said)
    ):
        yield f"in another language: {message.said!r}"


def _where(message: Message) -> str:
    return min(message.files, default="?")
