"""Check names, tags, aliases and paths that clients choose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from portal.core.errors import InvalidInput
from portal.core.messages import Message

LONGEST_NAME, LONGEST_CARD = 250, 200_000  # characters
LONGEST_KEY, LONGEST_VALUE, MOST_TAGS = 250, 8000, 200
STAGES = ("None", "Staging", "Production", "Archived")
_ALIAS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\Z")
_VERSION = re.compile(r"v?[0-9]+\Z", re.IGNORECASE)


def checked_name(text: str) -> str:
    """Return the name of a model. Raises InvalidInput."""
    name = text.strip()
    if not name or len(name) > LONGEST_NAME or name in {".", ".."} or not name.isprintable():
        raise InvalidInput.at(
            "name", Message("must be 1 to {n} printable characters", n=LONGEST_NAME)
        )
    if bad := sorted({*"/:\\?#%"} & {*name}):
        raise InvalidInput.at("name", Message("must not contain {characters}", characters=bad[0]))
    return name


def checked_alias(text: str, *, may_be_reserved: bool = False) -> str:
    """Return an alias. Raises InvalidInput: MLflow reserves `latest`, and versions look like v1."""
    alias = text.strip()
    is_reserved = _VERSION.match(alias) or alias.lower() == "latest"
    if not _ALIAS.match(alias) or (is_reserved and not may_be_reserved):
        raise InvalidInput.at(
            "alias",
            Message(
                "must be 1 to 100 letters, digits and _ . -, and neither a version nor “latest”"
            ),
        )
    return alias


def checked_stage(text: str) -> str:
    """Return a stage in MLflow's spelling. Raises InvalidInput."""
    for stage in STAGES:
        if text.lower() == stage.lower():
            return stage
    raise InvalidInput.at(
        "stage",
        Message("must be one of {names}", context="error of a field", names=", ".join(STAGES)),
    )


def checked_card(text: str, field: str = "description") -> str:
    """Return a model card. Raises InvalidInput."""
    if len(text) > LONGEST_CARD or "\x00" in text:
        raise InvalidInput.at(
            field, Message("must be at most {n} characters long", n=f"{LONGEST_CARD:,}")
        )
    return text


def checked_tags(tags: Mapping[str, Any]) -> dict[str, str]:
    """Return tags as texts. Raises InvalidInput."""
    found = {str(key): str(value) for key, value in tags.items()}
    for key, value in found.items():
        if not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
            raise InvalidInput.at(
                "tags",
                Message("must have keys of 1 to {n} printable characters", n=LONGEST_KEY),
            )
        if len(value) > LONGEST_VALUE or "\x00" in value:
            raise InvalidInput.at(
                "tags", Message("must have values of at most {n} characters", n=LONGEST_VALUE)
            )
    return found


def merged_tags(before: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, str]:
    """Return tags after changes; a change to None deletes. Raises InvalidInput."""
    kept = {key: value for key, value in before.items() if key not in changes}
    added = checked_tags({key: value for key, value in changes.items() if value is not None})
    if len(kept) + len(added) > MOST_TAGS:
        raise InvalidInput.at(
            "tags", Message("must be at most {n}", context="error of a field", n=MOST_TAGS)
        )
    return {**kept, **added}
