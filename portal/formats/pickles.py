"""Find out which imports a pickle makes when it is loaded, without loading it.

The opcodes of `pickletools` are followed with a stack of texts, so that an import whose name is
assembled on the stack (STACK_GLOBAL) is found even if decoys are pushed before it. Arguments are
passed over, not read: weights inside a pickle do not reach memory.

`picklescan` was considered: it takes the last two texts before STACK_GLOBAL, reads every argument
into memory, and knows dangerous names only. `fickling` builds a syntax tree of the whole program.
Names that are known to be safe are listed here; any other import makes a pickle unsafe.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass, field
from typing import Any

from portal.formats.reading import Damaged, Window, text_of

NAMES = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth", ".ckpt", ".bin", ".p")
MOST_IMPORTS = 500
MOST_OPCODES = 1_000_000
LONGEST_NAME = 500  # characters of a module or a name
MOST_TEXT = 16 << 20  # characters of texts that are kept
# Legacy PyTorch files are five pickles, then the bytes of the weights
_LEGACY_MAGIC, _LEGACY_PICKLES = 0x1950A86A20F9469CFC6C, 5
_UNKNOWN = "?"

_SAFE_NAMES = frozenset(
    {
        "_codecs.encode",
        "builtins.bytearray",
        "builtins.bytes",
        "builtins.complex",
        "builtins.dict",
        "builtins.float",
        "builtins.frozenset",
        "builtins.int",
        "builtins.list",
        "builtins.object",
        "builtins.range",
        "builtins.set",
        "builtins.slice",
        "builtins.str",
        "builtins.tuple",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.Counter",
        "collections.deque",
        "copyreg._reconstructor",
        "datetime.date",
        "datetime.datetime",
        "datetime.timedelta",
        "datetime.timezone",
        "decimal.Decimal",
        "fractions.Fraction",
        "numpy.core.multiarray._reconstruct",
        "numpy.core.multiarray.scalar",
        "numpy._core.multiarray._reconstruct",
        "numpy._core.multiarray.scalar",
        "numpy._core.numeric._frombuffer",
        "numpy.core.numeric._frombuffer",
        "numpy.ndarray",
        "numpy.dtype",
        "pathlib.PosixPath",
        "pathlib.PurePosixPath",
        "torch.Size",
        "torch.Tensor",
        "torch.device",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_parameter_with_state",
        "torch._utils._rebuild_qtensor",
        "torch._utils._rebuild_sparse_tensor",
        "torch._utils._rebuild_tensor",
        "torch._utils._rebuild_tensor_v2",
        "torch._utils._rebuild_tensor_v3",
        "torch._tensor._rebuild_from_type_v2",
        "torch.nn.parameter.Parameter",
        "torch.serialization._get_layout",
        "torch.storage.UntypedStorage",
        "torch.storage.TypedStorage",
        *(
            f"torch.{kind}Storage"
            for kind in (
                "Double",
                "Float",
                "Half",
                "BFloat16",
                "Long",
                "Int",
                "Short",
                "Char",
                "Byte",
                "Bool",
                "Untyped",
                "Typed",
                "ComplexFloat",
                "ComplexDouble",
                "QInt8",
                "QInt32",
                "QUInt8",
            )
        ),
        *(
            f"torch.{kind}"
            for kind in (
                "float16",
                "float32",
                "float64",
                "bfloat16",
                "int8",
                "int16",
                "int32",
                "int64",
                "uint8",
                "bool",
                "strided",
                "per_tensor_affine",
                "float8_e4m3fn",
                "float8_e5m2",
            )
        ),
        *(
            f"numpy.{kind}"
            for kind in (
                "float16",
                "float32",
                "float64",
                "int8",
                "int16",
                "int32",
                "int64",
                "uint8",
                "uint16",
                "uint32",
                "uint64",
                "bool_",
            )
        ),
        "uuid.UUID",
    }
)
# Modules whose functions run programs, code or imports, or reach files and the network. The list
# only sorts what is shown as dangerous: everything that is not safe is unsafe.
_DANGEROUS_MODULES = frozenset(
    {
        "_aix_support",
        "_osx_support",
        "_posixsubprocess",
        "_pyrepl",
        "aiohttp",
        "asyncio",
        "bdb",
        "cloudpickle",
        "code",
        "codeop",
        "commands",
        "cProfile",
        "ctypes",
        "dill",
        "distutils",
        "doctest",
        "ensurepip",
        "functools",
        "gc",
        "httpx",
        "http",
        "idlelib",
        "importlib",
        "imp",
        "io",
        "lib2to3",
        "linecache",
        "logging",
        "marshal",
        "multiprocessing",
        "nt",
        "operator",
        "os",
        "pdb",
        "pickle",
        "_pickle",
        "pip",
        "pkgutil",
        "platform",
        "posix",
        "profile",
        "pty",
        "pydoc",
        "requests",
        "runpy",
        "shutil",
        "signal",
        "site",
        "smtplib",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "timeit",
        "trace",
        "types",
        "urllib",
        "urllib3",
        "uuid",
        "venv",
        "webbrowser",
        "zipimport",
        "torch.hub",
        "torch.load",
        "torch.storage",
        "numpy.testing",
        "numpy.f2py",
    }
)
# Names in pickles of protocols 0 to 2
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_OPCODES: dict[bytes, Any] = {op.code.encode("latin1"): op for op in pickletools.opcodes}
_TEXTS = {
    "UNICODE",
    "BINUNICODE",
    "BINUNICODE8",
    "SHORT_BINUNICODE",
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
}
_LENGTHS = {
    pickletools.TAKEN_FROM_ARGUMENT1: "<B",
    pickletools.TAKEN_FROM_ARGUMENT4: "<i",
    pickletools.TAKEN_FROM_ARGUMENT4U: "<I",
    pickletools.TAKEN_FROM_ARGUMENT8U: "<Q",
}
_MARK = object()
_NotPickle = Damaged("it has bytes that are no pickle.")
_TooLong = Damaged("it is too long.")
_LONGEST_LINE = 64 << 10
Value = str | None | object  # a text, something unknown, or a mark


@dataclass
class Scan:
    """The imports of a pickle. It `is_unsafe` if one is not known to be safe, or if it failed."""

    imports: list[str] = field(default_factory=list)
    dangerous: list[str] = field(default_factory=list)
    is_unsafe: bool = False
    error: str = ""
    is_pickle: bool = True
    count: int = 1  # pickles that were scanned to their end
    is_cut: bool = False  # a limit ended the scan: more of a pickle may follow


def is_start(start: bytes) -> bool:
    """Return whether a file starts as a pickle of protocol 2 or later."""
    return len(start) > 1 and start[0] == 0x80 and 2 <= start[1] <= 5


def read(window: Window) -> Scan:
    """Scan all pickles of a file, one after the other. Never raises Damaged."""
    machine, error, is_pickle, is_cut, count = _Machine(window), "", True, False, 0
    try:
        while count == 0 or (count < _LEGACY_PICKLES if machine.is_legacy else window.left):
            machine.run()
            count += 1
    except Damaged as damage:
        error = f"The pickle can't be scanned to its end: {damage}"
        is_pickle = damage is not _NotPickle or bool(machine.imports)
        is_long = damage is _TooLong or window.left > _LONGEST_LINE
        is_cut = damage is not _NotPickle and is_long
    found = sorted(machine.imports)
    dangerous = [name for name in found if is_dangerous(name)]
    is_unsafe = bool(error) or any(name not in _SAFE_NAMES for name in found)
    return Scan(found, dangerous, is_unsafe, error, is_pickle, count, is_cut)


def is_dangerous(name: str) -> bool:
    """Return whether an import is known to run programs or code."""
    if name in _SAFE_NAMES:
        return False
    module, _, last = name.rpartition(".")
    if module == "builtins" or _UNKNOWN in name:
        return True
    if last.startswith("__") or module.startswith("__"):
        return True
    parts = module.split(".")
    return any(".".join(parts[: n + 1]) in _DANGEROUS_MODULES for n in range(len(parts)))


class _Machine:
    """Follow opcodes. Only texts keep their value on the stack."""

    def __init__(self, window: Window):
        self._window = window
        self._stack: list[Value] = []
        self._memo: dict[int, Value] = {}
        self._left, self._text_left = MOST_OPCODES, MOST_TEXT
        self.imports: set[str] = set()
        self.is_legacy = False

    def run(self) -> None:
        """Follow one pickle up to its STOP. Raises Damaged."""
        self._stack, self._memo = [], {}
        while True:
            self._left -= 1
            if self._left < 0 or self._text_left < 0:
                raise _TooLong
            opcode = _OPCODES.get(self._window.read(1))
            if opcode is None:
                raise _NotPickle
            if opcode.name == "STOP":
                return
            self._follow(opcode, self._argument(opcode))

    def _argument(self, opcode: Any) -> Any:
        """Return a text, a number or None; the window is behind the argument."""
        arg, name = opcode.arg, opcode.name
        if arg is None:
            return None
        if name in {"GLOBAL", "INST"}:
            return (self._line(), self._line())
        if arg.n == pickletools.UP_TO_NEWLINE:
            line = self._line()
            return line.strip("\"'") if name == "STRING" else line
        if arg.n in _LENGTHS:
            length = self._window.unpack(_LENGTHS[arg.n])
            if name in _TEXTS and 0 <= length <= LONGEST_NAME:
                self._text_left -= length
                return text_of(self._window.read(length), LONGEST_NAME)
            if name == "LONG1" and length == 10:
                self.is_legacy |= int.from_bytes(self._window.read(10), "little") == _LEGACY_MAGIC
            else:
                self._window.skip(length)
            return None
        data = self._window.read(arg.n)
        return int.from_bytes(data, "little")

    def _line(self) -> str:
        text = text_of(self._window.line(_LONGEST_LINE), LONGEST_NAME + 1)
        self._text_left -= len(text)
        return text

    def _follow(self, opcode: Any, argument: Any) -> None:
        name = opcode.name
        match name:
            case "GLOBAL" | "INST":
                self._import(*argument)
                if name == "INST":
                    self._to_mark()
                self._push(None)
            case "STACK_GLOBAL":
                last, module = self._pop(), self._pop()
                self._import(module, last)
                self._push(None)
            case "EXT1" | "EXT2" | "EXT4":  # names from a registry of the loading process
                self.imports.add(f"copyreg.extension {_UNKNOWN}")
                self._push(None)
            case "PUT" | "BINPUT" | "LONG_BINPUT" | "MEMOIZE":
                self._remember(len(self._memo) if name == "MEMOIZE" else self._number(argument))
            case "GET" | "BINGET" | "LONG_BINGET":
                self._push(self._memo.get(self._number(argument)))
            case "DUP":
                self._stack += [self._pop()] * 2
            case "MARK":
                self._stack.append(_MARK)
            case "POP_MARK":
                self._to_mark()
            case "POP":
                self._pop(may_be_mark=True)
            case _ if name in _TEXTS:
                self._push(argument)
            case _:
                self._apply(opcode)

    def _apply(self, opcode: Any) -> None:
        """Change the stack as the documentation of the opcode says."""
        before = list(opcode.stack_before)
        if pickletools.stackslice in before:
            self._to_mark()
            before = before[: before.index(pickletools.markobject)]
        for _ in before:
            self._pop()
        for _ in opcode.stack_after:
            self._push(None)

    def _import(self, module: Value, name: Value) -> None:
        parts = [p if isinstance(p, str) and p else _UNKNOWN for p in (module, name)]
        parts[0] = _PYTHON_2.get(parts[0], parts[0])
        if len(self.imports) >= MOST_IMPORTS:
            raise Damaged("it has too many imports.")
        self.imports.add(".".join(parts))

    def _remember(self, key: int) -> None:
        if not self._stack:
            raise _NotPickle
        self._memo[key] = self._stack[-1]

    def _number(self, argument: Any) -> int:
        if isinstance(argument, int):
            return argument
        try:
            return int(argument[:20])
        except ValueError:
            raise _NotPickle from None

    def _push(self, value: Value) -> None:
        self._stack.append(value)

    def _pop(self, *, may_be_mark: bool = False) -> Value:
        if not self._stack:
            raise _NotPickle
        value = self._stack.pop()
        if value is _MARK and not may_be_mark:
            raise _NotPickle
        return value

    def _to_mark(self) -> None:
        while self._stack:
            if self._stack.pop() is _MARK:
                return
        raise _NotPickle
