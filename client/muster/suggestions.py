"""Suggestions of the portal, as commands to copy."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muster.errors import Conflict, InvalidInput
from muster.wording import clean

if TYPE_CHECKING:
    from muster.output import Session
    from muster.shapes.jobs import SuggestionShape

_SUBMITS = ("run", "submit")


def suggestion_lines(found: Sequence[SuggestionShape]) -> str:
    """Return a line for each: its label, and the command that takes it."""
    return "\n".join(f"{clean(one['label'])}: {clean(_command(one))}" for one in found)


def with_suggestions(
    session: Session, error: InvalidInput | Conflict, body: Mapping[str, Any]
) -> InvalidInput | Conflict:
    """Return the error of a submission with what the portal would accept instead."""
    if session.json or session.quiet:
        return error
    try:
        found = session.client.jobs.rehearse(**body).get("suggestions")
    except (InvalidInput, Conflict):
        return error
    if found:
        error.message = "\n".join([error.message, suggestion_lines(found)])
    return error


def _command(one: SuggestionShape) -> str:
    return one["command"] or _again(one["changes"])


def _again(changes: Mapping[str, Any]) -> str:
    """Return the command that is running, with the changes as options."""
    words = sys.argv[1:]
    at = next((n + 1 for n, word in enumerate(words) if word in _SUBMITS), 0)
    sets = [f"--set={field}={'' if value is None else value}" for field, value in changes.items()]
    return shlex.join(["muster", *words[:at], *sets, *words[at:]])
