"""Formats: what is read of good files, and that hostile ones give an error text."""

from __future__ import annotations

import bz2
import collections
import gzip
import io
import json
import lzma
import os
import pickle
import pickletools
import struct
import tarfile
import tracemalloc
import zipfile
import zlib

import lz4.frame
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.formats import archives, contents, inspect, mlmodel, pickles, reading
from portal.formats.reading import Damaged
from tests.cases import read_case
from tests.registry.conftest import MLMODEL, UNSAFE, safetensors
from tests.rig.seeds import examples


def facts(name: str, data: bytes):
    return inspect(name, io.BytesIO(data), len(data))


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf() -> bytes:
    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.file_type") + struct.pack("<II", 4, 15),
        text("llama.context_length") + struct.pack("<II", 4, 4096),
        text("tokens") + struct.pack("<IIQ", 9, 8, 3) + text("a") + text("b") + text("c"),
    ]
    tensors = [text("w") + struct.pack("<IQQIQ", 2, 4, 8, 12, 0)]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    return head + b"".join(pairs) + b"".join(tensors) + bytes(64)


def field(number: int, value: bytes | int) -> bytes:
    """Return a field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def onnx() -> bytes:
    shape = field(2, field(1, field(2, b"batch")) + field(1, field(1, 784)))
    tensor = field(2, field(1, field(1, 1) + shape))
    graph = (
        field(1, field(4, b"MatMul"))
        + field(2, b"digits")
        + field(5, field(1, 784) + field(1, 10) + field(2, 1) + field(8, b"w") + field(9, bytes(9)))
        + field(11, field(1, b"x") + tensor)
        + field(11, field(1, b"w") + tensor)
        + field(12, field(1, b"y") + tensor)
    )
    return field(1, 9) + field(2, b"pytorch") + field(7, graph) + field(8, field(2, 17))


def gzipped(data: bytes) -> bytes:
    return gzip.compress(
        data, mtime=0
    )  # without the time, so that data is the same in each process


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


SAFE = pickle.dumps(collections.OrderedDict(a=[1, 2.5, "x", {"k": (None, True)}]))


def test_safetensors_has_parameters_by_type():
    found = facts("m.safetensors", safetensors(format="pt"))
    assert (found.format, found.error, found.is_unsafe) == ("safetensors", "", False)
    assert found.facts["parameters"] == 10 and found.facts["metadata"] == {"format": "pt"}
    assert found.facts["first"][0] == {"name": "weight", "type": "F32", "shape": [2, 3]}


def test_gguf_has_architecture_and_quantization():
    found = facts("model.gguf", gguf()).facts
    assert (found["architecture"], found["quantization"]) == ("llama", "Q4_K_M")
    assert (found["context_length"], found["parameters"]) == (4096, 32)
    assert found["metadata"]["tokens"] == "3 values"


def test_onnx_has_opset_and_inputs_without_weights():
    found = facts("model.onnx", onnx()).facts
    assert (found["opset"], found["producer"], found["graph"]) == (17, "pytorch", "digits")
    assert found["inputs"] == [{"name": "x", "type": "float32", "shape": ["batch", 784]}]
    assert found["operators"] == {"MatMul": 1} and found["parameters"] == 7840


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_of_plain_data_is_safe(protocol):
    plain = {"a": [1, 2**70, -1.5, "x" * 700, b"b" * 300, {3}, (), None], "b": bytearray(b"z")}
    found = facts("m.pkl", pickle.dumps([plain, plain], protocol))
    assert (found.error, found.dangerous, found.is_unsafe) == ("", [], False)


def decoys(*names: str) -> bytes:
    """Return a pickle that pushes harmless names and pops them before it imports."""

    def push(value: str) -> bytes:
        return b"\x8c" + bytes([len(value)]) + value.encode()

    pushed = b"".join(push(name) for name in names)
    popped = b"".join(push(name) + b"0" for name in ("collections", "OrderedDict"))
    return b"\x80\x04" + pushed + popped + b"\x93)R."


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (UNSAFE, "builtins.eval"),
        (pickle.dumps(os.system, 0), "posix.system"),
        (pickle.dumps(os.system, 5), "posix.system"),
        (decoys("os", "system"), "os.system"),
        # A memo that MEMOIZE numbers by its length, after a PUT that overwrote an entry
        (
            b"\x80\x04\x8c\x01aq\0\x8c\x01bq\0\x8c\x02os\x94\x8c\x06system\x94h\1h\2\x93)R.",
            "os.system",
        ),
        (b"\x80\x04\x8c\x02os\x8c\x06sys\x00em\x93)R.", "os.sys\ufffdem"),
        (b"\x80\x04)R)\x93.", None),
        (b"\x80\x02\x82\x01.", "copyreg.extension ?"),
        (b"ios\nsystem\n(S'true'\no.", "os.system"),
    ],
)
def test_imports_of_pickle_are_found(data, name):
    found = facts("m.pkl", data)
    assert found.is_unsafe
    assert name is None or name in found.imports, pickletools.dis(data)


def test_names_of_pickles_do_not_matter_where_content_says_it():
    assert facts("README.md", UNSAFE).is_unsafe
    assert facts("data.bin", b"\x00\x01binary of something else").format == ""
    assert facts("weights.bin", UNSAFE).is_unsafe
    assert facts("m.joblib", b"\x78\x9ccompressed").is_unsafe  # it cannot be scanned


def test_pytorch_archive_is_scanned():
    safe = facts("m.pt", archive({"m/data.pkl": SAFE, "m/data/0": bytes(999)}))
    assert (safe.format, safe.is_unsafe, safe.error) == ("pytorch", False, "")
    assert facts("m.pt", archive({"m/data.pkl": UNSAFE})).dangerous == ["builtins.eval"]
    assert facts("m.pt", archive({"m/data.pkl": SAFE})[:-30]).is_unsafe
    arrays = b"\x93NUMPY\x01\x00" + struct.pack("<H", 60)
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(60)
    assert facts("m.npz", archive({"a.npy": arrays + header})).is_unsafe
    lambdas = {"config.json": b'{"class_name": "Lambda"}', "model.weights.h5": b""}
    assert facts("m.keras", archive(lambdas)).is_unsafe
    assert facts("m.keras", b"before" + archive(lambdas)).is_unsafe


def tar(members: dict[str, bytes], mode: str = "w", kind: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=kind) as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return out.getvalue()


PLAIN = pickle.dumps({"a": 1}, 0)  # protocol 0 has no mark
OLD = pickle.dumps(os.system, 0)
NESTED = [
    ("model.joblib.gz", gzipped(UNSAFE)),
    ("model.joblib.z", zlib.compress(UNSAFE)),
    ("model.joblib.bz2", bz2.compress(UNSAFE)),
    ("model.joblib.xz", lzma.compress(UNSAFE)),
    ("model.joblib.lzma", lzma.compress(UNSAFE, format=lzma.FORMAT_ALONE)),
    ("model.joblib.lz4", lz4.frame.compress(UNSAFE)),
    ("model.pkl.zst", zstandard.compress(UNSAFE)),
    ("model", gzipped(OLD)),  # joblib looks at the content, not at the name
    ("notes.txt", OLD),
    ("twice.pkl", SAFE + UNSAFE),
    ("twice.joblib.z", zlib.compress(SAFE) + zlib.compress(UNSAFE)),
    ("twice.joblib.gz", gzipped(SAFE) + gzipped(UNSAFE)),
    ("twice.joblib.lz4", lz4.frame.compress(SAFE) + lz4.frame.compress(UNSAFE)),
    ("twice.joblib.xz", lzma.compress(SAFE) + lzma.compress(UNSAFE)),
    ("twice.pkl.zst", zstandard.compress(SAFE) + zstandard.compress(UNSAFE)),
    ("model.onnx", UNSAFE),
    ("image.gif", b"GIF89a" + bytes(3) + b"0" + OLD),
    ("twice.txt", PLAIN + OLD),
    ("twice.pkl", SAFE + b"something else"),
    ("model.nemo", tar({"config.yaml": b"a: 1", "w.ckpt": archive({"m/data.pkl": UNSAFE})})),
    ("model.tar", tar({"pickle": UNSAFE}, kind=tarfile.GNU_FORMAT)),
    ("model.tar.gz", tar({"deep/model.pkl": UNSAFE}, "w:gz")),
    ("model.pt", tar({"sys_info": SAFE, "storages": SAFE + bytes(9), "pickle": SAFE})),
    ("model.zip", archive({"inner.zip": archive({"model.joblib.gz": gzipped(UNSAFE)})})),
    ("model.zip", archive({"model": UNSAFE})),
    ("a.npz", archive({"a": UNSAFE})),
    ("model.joblib.gz", gzipped(UNSAFE)[:-20]),
    ("bomb.gz", gzipped(bytes(contents.LARGEST_CONTENT + 1))),
]


@pytest.mark.parametrize(
    ("name", "data"), NESTED, ids=[f"{n}-{m[0]}" for n, m in enumerate(NESTED)]
)
def test_pickle_inside_of_another_file_is_unsafe(name, data):
    found = facts(name, data)
    assert found.is_unsafe and (found.error or found.imports)


def test_case_of_a_compressed_pickle_is_unsafe():
    assert facts("model.joblib.gz", read_case("model.joblib.gz")).is_unsafe


@pytest.mark.parametrize(
    ("name", "data", "is_checked"),
    [
        ("model.h5", b"\x89HDF\r\n\x1a\n" + bytes(99), False),
        ("model.unknown", b"\x00\x01\x02\xff", False),
        ("notes.txt", b"S'" + b"a" * 200_000 + b"'\n0" + OLD, False),  # a line that is too long
        ("notes.txt", b"N0" * 600_000 + OLD, False),
        ("model.unknown.gz", gzipped(b"\x00\x01\x02\xff"), False),
        ("model.zip", archive({"a.txt": b"a", "b.h5": b"\x89HDF\r\n\x1a\n" + bytes(9)}), False),
        ("model.tar", tar({"a.txt": b"a", "b.h5": b"\x89HDF\r\n\x1a\n" + bytes(9)}), False),
        ("model.pkl.gz", gzipped(SAFE), True),
        ("model.nemo", tar({"config.yaml": b"a: 1", "w.ckpt": SAFE}), True),
        ("data.csv.gz", gzipped(b"a,b\n1,2\n"), True),
        ("requirements.txt", b"certifi\nnumpy\n", True),
        ("formula.txt", b"x^2 + 1", True),
        ("image.png", b"\x89PNG\r\n\x1a\n" + bytes(9), True),
        ("m.safetensors", safetensors(), True),
        ("m.safetensors", UNSAFE, False),
    ],
    ids=map(str, range(15)),
)
def test_file_of_an_unknown_format_is_not_checked(name, data, is_checked):
    found = facts(name, data)
    assert (found.is_checked, found.is_unsafe) == (is_checked, False)


def test_archive_that_takes_too_long_is_unsafe(monkeypatch):
    monkeypatch.setattr(archives, "LONGEST_SCAN", -1)
    found = facts("m.pt", archive({"m/data.pkl": SAFE}))
    assert found.is_unsafe and "too long" in found.error


def test_mlmodel_has_flavors_and_signature():
    found = mlmodel.read(MLMODEL)
    assert list(found["flavors"]) == ["python_function"]
    assert found["signature"]["inputs"] == [{"name": "x", "type": "double"}]
    assert mlmodel.requirements(b"# c\nmlflow==3\n\nnumpy # x\n") == ["mlflow==3", "numpy"]


def test_text_of_mlmodel_is_printable():
    found = mlmodel.read(rb"""flavors: {"a\0": {"\0": 1, 2: x}}
mlflow_version: "\0"
""")
    assert found["flavors"] == {"a\ufffd": {"\ufffd": 1, "2": "x"}}
    assert found["mlflow_version"] == "\ufffd"


BOMB = b"a: &a [x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 8)) for n in range(97, 110)
)


@pytest.mark.parametrize(
    "data",
    [
        b"flavors: " + BOMB.replace(b"\n", b"\n  "),
        b"flavors:\n  " + BOMB.replace(b"\n", b"\n  "),
        b"[" * 5000,
        b"x" * (1 << 20),
        b"flavors: !!python/object/apply:os.system [id]",
        b"signature: {inputs: '[['}",
        BOMB.replace(b"e: &e", b"mlflow_version:"),
        read_case("card-merge-25.md").split(b"---")[1],
        read_case("card-alias-7.md").split(b"---")[1],
        b"\x00\xff",
    ],
)
def test_hostile_mlmodel_is_damaged(data):
    with pytest.raises(Damaged):
        mlmodel.read(data)


NAMES = ["m.safetensors", "m.gguf", "m.onnx", "m.pkl", "m.pt", "m.npy", "m.bin", "m"]
SEEDS = [
    safetensors(),
    gguf(),
    onnx(),
    UNSAFE,
    SAFE,
    archive({"m/data.pkl": SAFE}),
    b"\x93NUMPY\x01\x00\x10\x00{'descr': 'f4'}",
]


@st.composite
def hostile(draw: st.DrawFn) -> bytes:
    """Return a good file with bytes changed, cut out or repeated."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["set", "cut", "insert", "large"]))
        if kind == "set" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 40))]
        elif kind == "insert":
            data[at:at] = draw(st.binary(max_size=12))
        else:
            data[at : at + 8] = b"\xff" * draw(st.integers(1, 8))
    return bytes(data)


@given(st.sampled_from(NAMES), st.one_of(hostile(), st.binary(max_size=200)))
@settings(max_examples=examples(300), deadline=None)
def test_hostile_file_gives_facts_or_an_error(name, data):
    found = facts(name, data)
    assert isinstance(found.error, str)
    json.dumps(found.as_dict())


LARGE = struct.pack("<Q", 1 << 60)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.safetensors", LARGE + b"{}"),
        ("a.safetensors", struct.pack("<Q", 7 << 20) + b"[" * (7 << 20)),
        ("a.gguf", b"GGUF" + struct.pack("<I", 3) + LARGE + LARGE),
        ("a.gguf", b"GGUF" + struct.pack("<IQQ", 3, 100_000, 0) + bytes(1 << 20)),
        ("a.onnx", b"\x08\x01" * (1 << 19)),
        ("a.pkl", b"\x80\x04" + b"(" * (1 << 20)),
        ("a.pkl", b"\x80\x04" + b"\x8d" + LARGE),
        ("a.pkl", b"\x80\x04" + (b"\x8c\xff" + b"a" * 255 + b"\x94") * 4000),
        ("a.pkl", b"c" + b"a" * (8 << 20)),
        ("a.pt", archive({"data.pkl": b"\x80\x04" + b"N0" * (1 << 20)})),
        (
            "a.pt",
            archive(
                {"data.pkl": b"\x80\x04\x8e" + struct.pack("<Q", 90 << 20) + b"0" * (90 << 20)}
            ),
        ),
    ],
)
def test_large_header_is_refused_within_memory(name, data, monkeypatch):
    monkeypatch.setattr(reading, "MAX_STEPS", 50_000)
    monkeypatch.setattr(pickles, "MOST_OPCODES", 20_000)
    monkeypatch.setattr(pickles, "MOST_TEXT", 500_000)
    tracemalloc.start()
    found = facts(name, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.error
    assert peak < 120 << 20
