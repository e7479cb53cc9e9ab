"""The browser's part of a catalogue: a script that `base.html` loads before the modules, for `static/js/words.js`."""

from __future__ import annotations

import json
from collections.abc import Iterable

from portal.languages.catalogue import Message

_VOCABULARY = "portal/languages/vocabulary.py"  # states come with live events, so no literal of a module says them


def script(messages: Iterable[Message]) -> bytes:
    """What static/js says, by its English."""
    said = {
        m.id: m.said
        for m in messages
        if m.said and not m.is_fuzzy and any(_is_said(name) for name in m.files)
    }
    return f"globalThis.words = {json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True)};\n".encode()


def _is_said(name: str) -> bool:
    return name.startswith("static/js/") or name == _VOCABULARY
