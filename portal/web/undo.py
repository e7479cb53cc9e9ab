"""Messages that offer to undo what was done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages

_MARK = "undo "


@dataclass(frozen=True)
class Undo:
    """A form that undoes an action: where it is posted, and its fields.

    It goes the way of the action itself, so the same checks apply and the audit log has both.
    """

    url: str
    fields: dict[str, str | list[str]] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the fields of the form; a list gives several of one name."""
        return [
            (name, value)
            for name, given in self.fields.items()
            for value in (given if isinstance(given, list) else [given])
        ]


def offer_undo(request: Any, text: str, undo: Undo) -> None:
    """Show a success message with an undo button on the next page."""
    tags = _MARK + json.dumps({"url": undo.url, "fields": undo.fields})
    messages.success(request, text, extra_tags=tags)


def undo_of(message: Any) -> Undo | None:
    """Return what a message offers to undo."""
    tags = message.extra_tags or ""
    if not tags.startswith(_MARK):
        return None
    stored = json.loads(tags.removeprefix(_MARK))
    return Undo(stored["url"], stored["fields"])
