"""Read an ONNX model: protocol buffers, of which the weights are passed over.

The `onnx` package would load the whole file, weights included, and brings 20 MB of protobuf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Any

from portal.formats.reading import Damaged, Window, text_of

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
MOST_SHOWN, MOST_WEIGHTS, LONGEST_TEXT = 50, 100_000, 4096
# onnx.TensorProto.DataType
_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
}
Field = tuple[int, int, int]  # number, wire type, and the value or the length in bytes


def read(window: Window) -> dict[str, Any]:
    """Return opset, inputs, outputs, operators and parameters. Raises Damaged."""
    model = _Model()
    for field in _fields(window, window.size):
        model.add(window, field)
    if not model.has_graph:
        raise Damaged("The file has no graph, so it is not an ONNX model.")
    return model.facts()


class _Model:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.ir_version = 0
        self.opsets: dict[str, int] = {}
        self.metadata: dict[str, str] = {}
        self.has_graph = False
        self.operators: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.tensors: list[tuple[str, dict[str, Any]]] = []
        self.weights: set[str] = set()
        self.is_external = False

    def add(self, window: Window, field: Field) -> None:
        match field:
            case (1, 0, value):
                self.ir_version = min(value, 1 << 31)
            case (2 | 3, 2, length):
                name = "producer" if field[0] == 2 else "producer_version"
                self.texts[name] = _text(window, length)
            case (7, 2, length):
                self.has_graph = True
                self._add_graph(window, length)
            case (8, 2, length):
                domain, version = _pair(window, length, is_number=True)
                if len(self.opsets) < MOST_SHOWN:
                    self.opsets[domain or "ai.onnx"] = int(version or 0)
            case (14, 2, length):
                key, text = _pair(window, length, is_number=False)
                if len(self.metadata) < MOST_SHOWN:
                    self.metadata[key] = str(text or "")
            case _:
                _skip(window, field)

    def _add_graph(self, window: Window, length: int) -> None:
        for field in _fields(window, length):
            match field:
                case (1, 2, inside):
                    self._add_node(window, inside)
                case (2, 2, inside):
                    self.texts["graph"] = _text(window, inside)
                case (5, 2, inside):
                    self._add_weights(window, inside)
                case (11 | 12, 2, inside):
                    self._add_tensor(window, inside, "inputs" if field[0] == 11 else "outputs")
                case _:
                    _skip(window, field)

    def _add_node(self, window: Window, length: int) -> None:
        for field in _fields(window, length):
            if field[:2] == (4, _BYTES):
                name = _text(window, field[2])[:80]
                if name in self.operators or len(self.operators) < 500:
                    self.operators[name] += 1
            else:
                _skip(window, field)

    def _add_weights(self, window: Window, length: int) -> None:
        dimensions: list[int] = []
        kind = 0
        for field in _fields(window, length):
            match field:
                case (1, 0, value):
                    dimensions.append(value)
                case (1, 2, packed):
                    end = window.position + packed
                    while window.position < end:
                        dimensions.append(_varint(window))
                case (2, 0, value):
                    kind = value
                case (8, 2, size):
                    name = _text(window, size)[:200]
                    if len(self.weights) < MOST_WEIGHTS:
                        self.weights.add(name)
                case (14, 0, value):
                    self.is_external = self.is_external or value == 1
                    continue
                case _:
                    _skip(window, field)
            if len(dimensions) > 64:
                raise Damaged("A tensor has too many dimensions.")
        self.types[_TYPES.get(kind, f"type {kind}")] += min(prod(dimensions), 1 << 50)

    def _add_tensor(self, window: Window, length: int, where: str) -> None:
        name, tensor = "", {"type": "", "shape": []}
        for field in _fields(window, length):
            match field:
                case (1, 2, inside):
                    name = _text(window, inside)[:200]
                case (2, 2, inside):
                    tensor = _tensor_type(window, inside)
                case _:
                    _skip(window, field)
        if len(self.tensors) < MOST_SHOWN * 20:
            self.tensors.append((where, {"name": name, **tensor}))

    def facts(self) -> dict[str, Any]:
        # Old exporters list the weights among the inputs
        inputs = [t for where, t in self.tensors if where == "inputs"]
        return {
            **self.texts,
            "ir_version": self.ir_version,
            "opset": self.opsets.get("ai.onnx"),
            "opsets": self.opsets,
            "inputs": [t for t in inputs if t["name"] not in self.weights][:MOST_SHOWN],
            "outputs": [t for where, t in self.tensors if where == "outputs"][:MOST_SHOWN],
            "operators": dict(self.operators.most_common(MOST_SHOWN)),
            "nodes": self.operators.total(),
            "parameters": self.types.total(),
            "types": dict(self.types.most_common()),
            "metadata": self.metadata,
            "is_external": self.is_external,
        }


def _tensor_type(window: Window, length: int) -> dict[str, Any]:
    """Return type and shape of a TypeProto; other kinds than tensors have neither."""
    found: dict[str, Any] = {"type": "", "shape": []}
    for field in _fields(window, length):
        if field[:2] != (1, _BYTES):
            _skip(window, field)
            continue
        for inner in _fields(window, field[2]):
            match inner:
                case (1, 0, kind):
                    found["type"] = _TYPES.get(kind, f"type {kind}")
                case (2, 2, inside):
                    found["shape"] = _shape(window, inside)
                case _:
                    _skip(window, inner)
    return found


def _shape(window: Window, length: int) -> list[int | str]:
    shape: list[int | str] = []
    for field in _fields(window, length):
        if field[:2] != (1, _BYTES):
            _skip(window, field)
            continue
        dimension: int | str = "?"
        for inner in _fields(window, field[2]):
            match inner:
                case (1, 0, value):
                    dimension = min(value, 1 << 50)
                case (2, 2, inside):
                    dimension = _text(window, inside)[:80]
                case _:
                    _skip(window, inner)
        if len(shape) < 64:
            shape.append(dimension)
    return shape


def _pair(window: Window, length: int, *, is_number: bool) -> tuple[str, str | int | None]:
    key = ""
    value: str | int | None = None
    for field in _fields(window, length):
        match field:
            case (1, 2, inside):
                key = _text(window, inside)[:200]
            case (2, 0, number) if is_number:
                value = min(number, 1 << 31)
            case (2, 2, inside) if not is_number:
                value = _text(window, inside)[:500]
            case _:
                _skip(window, field)
    return key, value


def _fields(window: Window, length: int) -> Iterator[Field]:
    """Yield the fields of a message; the caller passes the bytes of each. Raises Damaged."""
    end = window.position + length
    if length > window.left:
        raise Damaged("The file ends too early.")
    while window.position < end:
        tag = _varint(window)
        number, wire = tag >> 3, tag & 7
        if number == 0 or wire not in {_VARINT, _FIXED64, _BYTES, _FIXED32}:
            raise Damaged("The file is not a valid protocol buffer.")
        value = _varint(window) if wire in {_VARINT, _BYTES} else {1: 8, 5: 4}[wire]
        if wire != _VARINT and value > end - window.position:
            raise Damaged("The file is not a valid protocol buffer.")
        yield number, wire, value
    if window.position != end:
        raise Damaged("The file is not a valid protocol buffer.")


def _varint(window: Window) -> int:
    value = shift = 0
    while True:
        byte = window.read(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
        shift += 7
        if shift > 63:
            raise Damaged("The file is not a valid protocol buffer.")


def _text(window: Window, length: int) -> str:
    data = window.read(min(length, LONGEST_TEXT))
    if length > LONGEST_TEXT:
        window.skip(length - LONGEST_TEXT)
    return text_of(data)


def _skip(window: Window, field: Field) -> None:
    if field[1] != _VARINT:
        window.skip(field[2])
