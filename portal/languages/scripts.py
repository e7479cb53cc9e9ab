"""The browser's part of a catalogue: a module that `static/js/words.js` imports."""

from __future__ import annotations

import json
from collections.abc import Iterable

from portal.languages.catalogue import Message


def module(messages: Iterable[Message]) -> bytes:
    """What static/js says, by its English."""
    said = {m.id: m.said for m in messages if m.said and any(name.startswith("static/js/") for name in m.files)}
    return f"export default {json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True)};\n".encode()
