"""Load the core schema of YAML 1.2 (`yes` is text, 010 is ten), with the line of every field.

Built from parser events, never from objects: no tags and no aliases (so no "billion laughs"), and
limits on size and depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from schedulers.spec.errors import Report, shown_key

MOST_BYTES = 256 * 1024
MOST_DEPTH = 16
MOST_NODES = 20_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_INT = re.compile(r"[-+]?[0-9]+", re.ASCII)
_BASED_INT = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)", re.ASCII)
_MOST_DIGITS = 400


@dataclass
class Document:
    """Plain data, the line where each field begins, and the source of non-text scalars ("1.10")."""

    data: object = None
    lines: dict[str, int] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def load(text: str) -> Document:
    """Load one document. Raises only SpecErrors, with line numbers."""
    report = Report()
    _check_text(text, report)
    report.raise_if_any()
    builder = _Builder(report)
    try:
        for event in yaml.parse(text.removeprefix("\ufeff"), Loader=_LOADER):
            builder.feed(event)
    except _Stop:
        pass
    except yaml.YAMLError as fault:
        line = _fault_line(fault)
        report.add("", _in_words(fault, text, line), line)
    report.raise_if_any()
    return builder.document


def dump(data: dict[str, Any]) -> str:
    """Dump YAML that `load` and YAML 1.1 parsers read back as the same data."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def _check_text(text: str, report: Report) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        report.add(
            "",
            f"is {size:,} bytes long; a spec may have at most {MOST_BYTES:,}. Put data into a file or a dataset",
        )
        return
    if not text.strip("\ufeff \t\r\n"):
        report.add("", "is empty; the shortest valid spec is `run: hostname`")
    for match in _FORBIDDEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        report.add("", f"contains the character {match[0]!a}, which YAML does not allow", line)


class _Stop(Exception):
    """Abort the load: further errors would only repeat the first."""


@dataclass
class _Frame:
    holder: dict[str, Any] | list[Any]
    path: str
    key: str | None = None
    is_kept: bool = True  # False for a duplicate key: its value is read and dropped


class _Builder:
    def __init__(self, report: Report):
        self.report, self.document = report, Document()
        self.stack: list[_Frame] = []
        self.count = 0

    def feed(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.DocumentStartEvent):
            self._one_document(line)
        elif isinstance(event, yaml.AliasEvent):
            self._stop("aliases (*name) are not supported; repeat the value", line)
        elif isinstance(event, yaml.ScalarEvent):
            self._check_node(event, line)
            self._scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check_node(event, line)
            self._open({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()

    def _one_document(self, line: int) -> None:
        if self.count:
            self._stop("a second document begins here (---); only one spec is allowed", line)

    def _check_node(self, event: Any, line: int) -> None:
        self.count += 1
        if self.count > MOST_NODES:
            self._stop(
                f"has more than {MOST_NODES:,} values, which is too many for a job spec", line
            )
        if event.anchor is not None:
            self._stop(f"anchors (&{event.anchor[:40]}) are not supported; repeat the value", line)
        if event.tag is not None and event.tag != "!":
            self._stop(f"tags ({event.tag[:60]}) are not supported; write a plain value", line)

    def _open(self, holder: dict[str, Any] | list[Any], line: int) -> None:
        if self.stack and isinstance(self.stack[-1].holder, dict) and self.stack[-1].key is None:
            self._stop("a key must be plain text, not a list or a mapping", line)
        if len(self.stack) >= MOST_DEPTH:
            self._stop(f"is nested more than {MOST_DEPTH} levels deep", line)
        self.stack.append(_Frame(holder, self._put(holder, line)))

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if self.stack and isinstance(self.stack[-1].holder, dict) and self.stack[-1].key is None:
            self._key(event, line)
            return
        value = resolve(event.value) if event.implicit[0] else event.value
        path = self._put(value, line)
        if not isinstance(value, str) and value is not None:
            self.document.sources[path] = event.value

    def _key(self, event: yaml.ScalarEvent, line: int) -> None:
        frame, key = self.stack[-1], event.value
        path = f"{frame.path}.{shown_key(key)}" if frame.path else shown_key(key)
        if event.implicit[0] and not isinstance(resolve(key), str):
            self.report.add(path, f"the key {key[:40]!r} is not text; put it in quotes", line)
        elif event.implicit[0] and key == "<<":
            self._stop("merge keys (<<) are not supported; repeat the values", line)
        frame.key, frame.is_kept = key, key not in frame.holder
        if not frame.is_kept:
            self.report.add(
                path,
                f"appears twice; it is first on line {self.report.line_of(path) or line}",
                line,
            )
            return
        self.document.lines[path] = line
        self.report.lines = self.document.lines

    def _put(self, value: object, line: int) -> str:
        """Add the value to the open collection and return its path."""
        if not self.stack:
            self.document.data = value
            return ""
        frame = self.stack[-1]
        if isinstance(frame.holder, list):
            path = f"{frame.path}[{len(frame.holder)}]"
            frame.holder.append(value)
            self.document.lines[path] = line
            return path
        assert frame.key is not None
        key, frame.key = frame.key, None
        if frame.is_kept:
            frame.holder[key] = value
        return f"{frame.path}.{shown_key(key)}" if frame.path else shown_key(key)

    def _stop(self, message: str, line: int) -> None:
        self.report.add("", message, line)
        raise _Stop


def resolve(text: str) -> object:
    """Resolve a plain scalar by the core schema of YAML 1.2."""
    if _NULL.fullmatch(text):
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _MOST_DIGITS and _INT.fullmatch(text):
        return int(text)
    if len(text) <= _MOST_DIGITS and _BASED_INT.fullmatch(text):
        return int(text, 0)
    if len(text) <= _MOST_DIGITS and _FLOAT.fullmatch(text):
        return float(text)
    special = _SPECIAL_FLOAT.fullmatch(text)
    return float(special[1] + special[2].lower()) if special else text


def _fault_line(fault: yaml.YAMLError) -> int | None:
    mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
    return mark.line + 1 if mark else None


def _in_words(fault: yaml.YAMLError, text: str, line: int | None) -> str:
    problem = str(getattr(fault, "problem", "") or fault).splitlines()[0][:200]
    typed = text.splitlines()[line - 1] if line and line <= len(text.splitlines()) else ""
    if "\t" in typed[: len(typed) - len(typed.lstrip())] or "'\\t'" in problem:
        return "is indented with a tab; YAML only allows spaces"
    context = str(getattr(fault, "context", "") or "")[:200]
    return f"is not valid YAML: {f'{context}, ' if context else ''}{problem}{_advice(context + problem)}"


def _advice(problem: str) -> str:
    return next((advice for words, advice in _ADVICE if words in problem), "")


_ADVICE = (
    (
        "mapping values are not allowed",
        "; quote a text that contains `: `, and give every key the same indentation",
    ),
    ("could not find expected ':'", "; a key ends with a colon and a space"),
    ("cannot start any token", "; put a text that begins with such a character in quotes"),
    ("while scanning a quoted scalar", "; a quotation mark is missing"),
)


class _Dumper(yaml.SafeDumper):
    """Use block style for multi-line text, and quote text that YAML 1.1 or 1.2 would misread."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    has_odd_break = any(char in text for char in "\x85\u2028\u2029\ufeff")
    style = '"' if has_odd_break else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _quoted_words() -> Iterator[tuple[str, re.Pattern[str]]]:
    yield (
        "tag:yaml.org,2002:int",
        re.compile(rf"^(?:{_INT.pattern}|{_BASED_INT.pattern})$", re.ASCII),
    )
    yield (
        "tag:yaml.org,2002:float",
        re.compile(rf"^(?:{_FLOAT.pattern}|{_SPECIAL_FLOAT.pattern})$", re.ASCII),
    )


_Dumper.add_representer(str, _text_node)
for _tag, _pattern in _quoted_words():
    _Dumper.add_implicit_resolver(_tag, _pattern, None)
