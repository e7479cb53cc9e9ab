"""Check the names that clients choose for repositories, branches and tags."""

from __future__ import annotations

import re
import unicodedata

from portal.blobs.paths import LONGEST_NAME, clean_path
from portal.core.errors import InvalidInput
from portal.core.messages import Message

LONGEST_MESSAGE = 500  # characters
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_-])?\Z")
_REF = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?\Z")
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")


def checked_name(text: str) -> str:
    """Return the name of a repository, as the Hub's clients accept it. Raises InvalidInput."""
    name = text.strip()
    if not _NAME.match(name) or "--" in name or ".." in name or name.endswith((".git", ".ipynb")):
        raise InvalidInput.at(
            "name",
            Message(
                "must be 1 to 96 letters, digits and . _ - without “--” and “..”, and begin with a "
                "letter or digit"
            ),
        )
    return name


def checked_ref(text: str) -> str:
    """Return the name of a branch or tag. Raises InvalidInput.

    It must not look like the id of a version, and no part of it may begin or end with a dot.
    """
    name = text.strip()
    parts = name.split("/")
    if (
        not _REF.match(name)
        or ".." in name
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
        or parts[0] == "refs"
    ):
        raise InvalidInput.at(
            "name", Message("must be letters, digits and . _ / -, such as main or v1.2")
        )
    if _COMMIT.match(name) or name.isdecimal():
        raise InvalidInput.at("name", Message("must not look like the id of a version"))
    return name


def checked_path(text: str) -> str:
    """Return the path of a file in a repository, in Unicode's form NFC. Raises InvalidInput.

    Each name fits into a file system, which counts bytes.
    """
    path = clean_path(unicodedata.normalize("NFC", text))
    if any(len(name.encode()) > LONGEST_NAME for name in path.split("/")):
        raise InvalidInput.at(
            "path", Message("must have at most {n} bytes in each name", n=LONGEST_NAME)
        )
    return path


def checked_message(text: str) -> str:
    """Return the first line of a commit message. Raises InvalidInput."""
    line = text.strip().partition("\n")[0].strip()
    if len(line) > LONGEST_MESSAGE or not line.isprintable():
        raise InvalidInput.at(
            "message", Message("must be at most {n} characters", n=LONGEST_MESSAGE)
        )
    return line
