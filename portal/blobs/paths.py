"""Check the paths of stored files."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from portal.core.errors import InvalidInput
from portal.core.messages import Message

LONGEST, LONGEST_NAME = 1000, 255  # characters of a path, and of one name in it
_BAD_CHARACTERS = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:(/|\Z)")


def clean_path(text: str) -> str:
    """Return a relative path with "/" between names. Raises InvalidInput for any other.

    Refused in every spelling, also percent-encoded once or more and in Unicode variants that
    others may normalize: absolute paths, "." and "..", empty names, and backslashes.
    """
    spelling, seen = text, set[str]()
    while spelling not in seen:
        for form in (spelling, unicodedata.normalize("NFKC", spelling)):
            if not _is_clean(form):
                raise InvalidInput.at(
                    "path", Message("must be a relative path, such as model/weights.bin")
                )
        seen.add(spelling)
        spelling = unquote(spelling, errors="surrogateescape")
    if len(text) > LONGEST or any(len(name) > LONGEST_NAME for name in text.split("/")):
        raise InvalidInput.at(
            "path",
            Message(
                "must have at most {most} characters, and {name} in each name",
                most=LONGEST,
                name=LONGEST_NAME,
            ),
        )
    return text


def _is_clean(text: str) -> bool:
    names = text.split("/")
    return not (
        {"", ".", ".."} & {name.strip() for name in names}
        or _BAD_CHARACTERS.search(text)
        or _DRIVE.match(text)
    )
