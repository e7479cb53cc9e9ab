"""Read the header of a safetensors file: 8 bytes of length, then JSON."""

from __future__ import annotations

from math import prod
from typing import Any

import orjson

from portal.formats.reading import Damaged, Window, text_of

LONGEST_HEADER = 8 << 20  # bytes; the largest published models split theirs into files below 1 MiB
MOST_TENSORS, MOST_METADATA = 100, 50  # shown
_BITS = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


def read(window: Window) -> dict[str, Any]:
    """Return tensors, parameters by type and metadata. Raises Damaged."""
    length = window.unpack("<Q")
    if length > LONGEST_HEADER:
        raise Damaged("The header is too large to be read.")
    try:
        header = orjson.loads(window.read(length))
    except orjson.JSONDecodeError:
        raise Damaged("The header is not valid JSON.") from None
    if not isinstance(header, dict):
        raise Damaged("The header is not a table of tensors.")
    metadata = header.pop("__metadata__", None) or {}
    types: dict[str, int] = {}
    end = 0
    for name, tensor in header.items():
        kind, count, stop = _tensor(name, tensor, window.left)
        types[kind] = types.get(kind, 0) + count
        end = max(end, stop)
    if end < window.left:
        raise Damaged("The file has bytes that belong to no tensor.")
    return {
        "tensors": len(header),
        "parameters": sum(types.values()),
        "types": dict(sorted(types.items(), key=lambda pair: -pair[1])),
        "metadata": _metadata(metadata),
        "first": [
            {
                "name": text_of(name.encode(errors="replace"), 200),
                "type": tensor["dtype"],
                "shape": tensor["shape"],
            }
            for name, tensor in list(header.items())[:MOST_TENSORS]
        ],
    }


def _tensor(name: str, tensor: Any, size: int) -> tuple[str, int, int]:
    """Return type, number of values and end of a tensor. Raises Damaged if it does not fit."""
    match tensor:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(start), int(end)]}:
            is_shape = len(shape) <= 64 and all(type(n) is int and n >= 0 for n in shape)
        case _:
            is_shape = False
    if not is_shape or kind not in _BITS or not 0 <= start <= end <= size:
        raise Damaged(f"The tensor {name[:80]!r} is not valid.")
    count = prod(shape)
    if count * _BITS[kind] != (end - start) * 8:
        raise Damaged(f"The tensor {name[:80]!r} does not have the size of its shape.")
    return kind, count, end


def _metadata(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        return {}
    pairs = list(given.items())[:MOST_METADATA]
    return {
        text_of(key.encode(errors="replace"), 100): text_of(str(value).encode(errors="replace"))
        for key, value in pairs
    }
