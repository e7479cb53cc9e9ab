"""Limits of what clients log. They are those of MLflow. Pure functions that raise InvalidInput."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping

from portal.core.errors import InvalidInput
from portal.core.messages import Message

# Per batch
METRICS, PARAMS, TAGS, ENTITIES = 1000, 100, 100, 1000
# Characters
NAME, KEY, PARAM_VALUE, TAG_VALUE, EXPERIMENT_TAG_VALUE = 500, 250, 6000, 8000, 20_000
RUN_NAME, DESCRIPTION = 250, 20_000
INPUTS = 1000  # datasets and models of a run
TEXTS = 5000  # params of a run, and tags of a run: they are one row, which each page reads
# Steps and times; the sentinel of `portal.series` for "no step" is below.
LOWEST, HIGHEST = -(2**61), 2**61
LAST_MS = 253_402_300_799_000  # Unix milliseconds; the end of the year 9999, which pages can show
_KEY = re.compile(r"[/\w.\- :]+")


def check_batch(
    metrics: Collection[object], params: Collection[str], tags: Collection[str]
) -> None:
    """Check the sizes of a batch."""
    for field, number, most in (
        ("metrics", len(metrics), METRICS),
        ("params", len(params), PARAMS),
        ("tags", len(tags), TAGS),
        ("batch", len(metrics) + len(params) + len(tags), ENTITIES),
    ):
        if number > most:
            raise InvalidInput.at(
                field,
                Message(
                    "has {number} entries; {most} are allowed in a batch. Split it into several.",
                    number=number,
                    most=most,
                ),
            )


def check_total(field: str, texts: Collection[str]) -> None:
    """Check how many params or tags a run would have."""
    if len(texts) > TEXTS:
        raise InvalidInput.at(
            field,
            Message(
                "would be {number} of this run; {most} are allowed. Log what changes with each "
                "step as metrics, and long lists as a file.",
                number=len(texts),
                most=TEXTS,
            ),
        )


def check_key(field: str, key: str) -> None:
    """Check the key of a metric, param or tag."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput.at(
            field,
            Message(
                "has the key {key}; letters, digits, spaces and _ - . : / are allowed",
                key=repr(key)[:100],
            ),
        )
    if len(key) > KEY:
        raise InvalidInput.at(
            field,
            Message(
                "has a key of {number} characters; {most} are allowed", number=len(key), most=KEY
            ),
        )
    if posixpath.normpath(key) != key or key == "." or key.startswith(("..", "/")):
        raise InvalidInput.at(
            field,
            Message(
                "has the key {key}, which is not a plain path; write it as {plain}",
                key=repr(key),
                plain=repr(posixpath.normpath(key).strip("./") or "key"),
            ),
        )


def check_texts(field: str, texts: Mapping[str, str], most: int) -> None:
    """Check the keys and values of params or tags."""
    for key, value in texts.items():
        check_key(field, key)
        check_text(f"{field}.{key}", value, most)


def check_text(field: str, text: str, most: int) -> None:
    """Check a text that may have several lines."""
    if not isinstance(text, str):
        raise InvalidInput.at(field, Message("must be text", context="error of a field"))
    if len(text) > most:
        raise InvalidInput.at(
            field,
            Message("has {number} characters; {most} are allowed", number=len(text), most=most),
        )
    if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise InvalidInput.at(field, Message("must not contain NUL or lone surrogates"))


def clean_name(text: str, most: int = NAME) -> str:
    """Return the name of an experiment or run."""
    text = text.strip() if isinstance(text, str) else ""
    if not text or not text.isprintable():
        raise InvalidInput.at("name", Message("must be a line of text"))
    check_text("name", text, most)
    return text


def check_time(field: str, at_ms: int | None) -> None:
    """Check a time in Unix milliseconds."""
    if at_ms is not None and not 0 <= at_ms <= LAST_MS:
        raise InvalidInput.at(field, Message("must be a time in Unix milliseconds"))
