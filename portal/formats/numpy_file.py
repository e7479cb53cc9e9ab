"""Read the header of a NumPy array (.npy)."""

from __future__ import annotations

import ast
from typing import Any

from portal.formats.reading import Damaged, Window

LONGEST_HEADER = 64 << 10


def read(window: Window) -> dict[str, Any]:
    """Return type and shape; an array that `has_objects` holds a pickle. Raises Damaged."""
    window.skip(6)
    version = window.read(2)[0]
    length = window.unpack("<H" if version == 1 else "<I")
    if length > LONGEST_HEADER:
        raise Damaged("The header is too large to be read.")
    try:
        header = ast.literal_eval(window.read(length).decode("latin1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Damaged("The header of the array is not valid.") from None
    match header:
        case {"descr": kind, "shape": tuple(shape)}:
            return {
                "type": str(kind)[:200],
                "shape": [n for n in shape[:32] if isinstance(n, int) and 0 <= n < 1 << 50],
                "has_objects": "O" in str(kind),
            }
    raise Damaged("The header of the array is not valid.")
