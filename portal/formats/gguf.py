"""Read the header of a GGUF file (llama.cpp): metadata and the list of tensors."""

from __future__ import annotations

from math import prod
from typing import Any

from portal.formats.reading import Damaged, Window, text_of

MOST_KEYS, MOST_TENSORS, MOST_DIMENSIONS = 10_000, 200_000, 8
LONGEST_TEXT, SHOWN = 64 << 10, 60  # bytes; metadata shown
_NUMBERS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _ARRAY = 8, 9
# Types of tensors in ggml.h; retired ones keep their numbers.
_TENSOR_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    9: "Q8_1",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    20: "IQ4_NL",
    21: "IQ3_S",
    22: "IQ2_S",
    23: "IQ4_XS",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    28: "F64",
    29: "IQ1_M",
    30: "BF16",
    34: "TQ1_0",
    35: "TQ2_0",
    39: "MXFP4",
}
# `general.file_type`: enum llama_ftype
_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4",
}


def read(window: Window) -> dict[str, Any]:
    """Return architecture, quantization, parameters and metadata. Raises Damaged."""
    if window.read(4) != b"GGUF":
        raise Damaged("This is not a GGUF file.")
    version = window.unpack("<I")
    if version not in {2, 3}:
        raise Damaged(f"This is GGUF version {version}; versions 2 and 3 can be read.")
    tensors, keys = window.unpack("<Q"), window.unpack("<Q")
    if tensors > MOST_TENSORS or keys > MOST_KEYS:
        raise Damaged("The header has too many values to be read.")
    metadata = dict(_pair(window) for _ in range(keys))
    types: dict[str, int] = {}
    for _ in range(tensors):
        kind, count = _tensor(window)
        types[kind] = types.get(kind, 0) + count
    architecture = str(metadata.get("general.architecture", ""))
    return {
        "version": version,
        "architecture": architecture,
        "name": metadata.get("general.name", ""),
        "quantization": _quantization(metadata, types),
        "context_length": metadata.get(f"{architecture}.context_length"),
        "tensors": tensors,
        "parameters": sum(types.values()),
        "types": dict(sorted(types.items(), key=lambda pair: -pair[1])),
        "metadata": {key: str(value) for key, value in list(metadata.items())[:SHOWN]},
    }


def _quantization(metadata: dict[str, Any], types: dict[str, int]) -> str:
    known = metadata.get("general.file_type")
    if isinstance(known, int) and known in _FILE_TYPES:
        return _FILE_TYPES[known]
    return max(types, key=lambda kind: types[kind], default="")


def _pair(window: Window) -> tuple[str, Any]:
    key = text_of(_text(window), 200)
    return key, _value(window, window.unpack("<I"))


def _value(window: Window, kind: int) -> Any:
    if kind == _TEXT:
        return text_of(_text(window))
    if kind == _ARRAY:
        inner, length = window.unpack("<I"), window.unpack("<Q")
        _skip_array(window, inner, length)
        return f"{length:,} values"
    if kind not in _NUMBERS:
        raise Damaged("The metadata has a value of an unknown type.")
    value = window.unpack(_NUMBERS[kind])
    return value if value == value and abs(value) != float("inf") else str(value)


def _skip_array(window: Window, kind: int, length: int) -> None:
    if kind in _SIZES:
        window.skip(_SIZES[kind] * length)
    elif kind == _TEXT:
        for _ in range(length):
            window.skip(window.unpack("<Q"))
    else:  # llama.cpp has no arrays of arrays
        raise Damaged("The metadata has a value of an unknown type.")


def _text(window: Window) -> bytes:
    length = window.unpack("<Q")
    data = window.read(min(length, LONGEST_TEXT))
    if length > LONGEST_TEXT:  # a chat template may be long
        window.skip(length - LONGEST_TEXT)
    return data


def _tensor(window: Window) -> tuple[str, int]:
    window.skip(window.unpack("<Q"))  # its name
    dimensions = window.unpack("<I")
    if dimensions > MOST_DIMENSIONS:
        raise Damaged("A tensor has too many dimensions.")
    count = prod(window.unpack("<Q") for _ in range(dimensions))
    kind = window.unpack("<I")
    window.skip(8)  # its offset
    if count > window.size * 32:  # less than a bit for each value
        raise Damaged("A tensor is larger than the file.")
    return _TENSOR_TYPES.get(kind, f"type {kind}"), count
