"""Refuse to overwrite a text that somebody else has changed since a person has read it."""

from __future__ import annotations

from hashlib import sha256

from portal.core.errors import Conflict
from portal.core.messages import Message


def mark_of(text: str) -> str:
    """Return a short digest of a text, which a form sends back as `was`."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def check_unchanged(field: str, text: str, was: str | None) -> None:
    """Raise Conflict unless `was` is the mark of the text, or None."""
    if was is not None and was != mark_of(text):
        message = Message(
            "Somebody else has changed this in the meantime. Save again to replace it."
        )
        raise Conflict(
            message, code="changed", data={"errors": [{"field": field, "message": message}]}
        )
