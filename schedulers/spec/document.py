"""Load YAML 1.2 with ruamel.yaml (`yes` is text, 010 is ten), with the line of every field.

Data is built from the composed nodes, which keep the line and the text as typed. Tags, anchors and
aliases are refused (so no "billion laughs"), and so are huge and deeply nested documents.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.resolver import VersionedResolver

from schedulers.spec.errors import Scalar, SpecReport, shown_key

MOST_BYTES = 256 * 1024
MOST_DEPTH = 16
MOST_NODES = 5_000  # parsing takes 40 µs each

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TEXT, _NULL, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("str", "null", "merge"))
_NUMBERS = {f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float")}


@dataclass
class Document:
    """Plain data, with numbers and booleans as `Scalar`, and the line where each field begins."""

    data: object = None
    lines: dict[str, int] = field(default_factory=dict)


def load(text: str) -> Document:
    """Load one document. Raises only SpecErrors, with line numbers."""
    report = SpecReport()
    _check_text(text, report)
    report.raise_if_any()
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.max_depth = MOST_DEPTH + 1  # of a value in the innermost list or mapping
    builder = _Builder(yaml, report)
    try:
        root = yaml.compose(text.removeprefix("\ufeff"))
        builder.document.data = None if root is None else builder.build(root, "")
    except YAMLError as fault:
        mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
        line = mark.line + 1 if mark else None
        report.add("", _explained(fault, text, line), line)
    report.raise_if_any()
    return builder.document


def dump(data: dict[str, Any]) -> str:
    """Dump YAML that `load` and YAML 1.1 parsers read back as the same data."""
    yaml = YAML(pure=True)
    yaml.Representer = _Representer
    yaml.width = 120
    stream = io.StringIO()
    yaml.dump(data, stream)
    return stream.getvalue()


def _check_text(text: str, report: SpecReport) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        report.add(
            "",
            f"is {size:,} bytes long; a spec may have at most {MOST_BYTES:,}. Put data into a "
            "file or a dataset",
        )
    elif not text.strip("\ufeff \t\r\n"):
        report.add("", "is empty; the shortest valid spec is `run: hostname`")
    elif match := _FORBIDDEN.search(text):
        line = text.count("\n", 0, match.start()) + 1
        report.add("", f"contains the character {match[0]!a}, which YAML does not allow", line)


class _Refused(MarkedYAMLError):
    """A valid document with something that a spec may not contain."""

    def __init__(self, message: str, mark: Any):
        super().__init__(problem=message, problem_mark=mark)


class _Composer(Composer):
    """Refuse tags, anchors, aliases and too many values before anything is built from them."""

    count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        mark = event.start_mark
        self.count += 1
        if isinstance(event, AliasEvent):
            raise _Refused("aliases (*name) are not supported; repeat the value", mark)
        if self.count > MOST_NODES:
            raise _Refused(
                f"has more than {MOST_NODES:,} values, which is too many for a job spec", mark
            )
        if event.anchor is not None:
            raise _Refused(
                f"anchors (&{event.anchor[:40]}) are not supported; repeat the value", mark
            )
        if event.tag not in (None, "!"):
            raise _Refused(f"tags ({event.tag[:60]}) are not supported; write a plain value", mark)
        return super().compose_node(parent, index)


class _Builder:
    """Build plain data from nodes. Faults of keys are recorded; the first key of two wins."""

    def __init__(self, yaml: YAML, report: SpecReport):
        self.yaml, self.report, self.document = yaml, report, Document()

    def build(self, node: Node, path: str) -> Any:
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self._item(item, f"{path}[{index}]") for index, item in enumerate(node.value)]
        if node.tag == _NULL:
            return None
        if node.tag in _NUMBERS:
            try:
                return Scalar(node.value, self.yaml.constructor.construct_object(node))
            except (ValueError, IndexError):  # too many digits, or none (-_)
                return node.value
        return node.value

    def _item(self, node: Node, path: str) -> Any:
        self.document.lines[path] = node.start_mark.line + 1
        return self.build(node, path)

    def _mapping(self, node: MappingNode, prefix: str) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                raise _Refused("a key must be plain text, not a list or a mapping", key.start_mark)
            if key.tag == _MERGE:
                raise _Refused(
                    "merge keys (<<) are not supported; repeat the values", key.start_mark
                )
            path = f"{prefix}.{shown_key(key.value)}" if prefix else shown_key(key.value)
            if key.tag == _NULL or key.tag in _NUMBERS:
                self.report.add(
                    path, f"the key {key.value[:40]!r} is not text; put it in quotes", line
                )
            if key.value in built:
                first = self.document.lines[path]
                self.report.add(path, f"appears twice; it is first on line {first}", line)
                continue
            self.document.lines[path] = line
            built[key.value] = self.build(value, path)
        return built


def _explained(fault: YAMLError, text: str, line: int | None) -> str:
    if isinstance(fault, MaxDepthExceededError):
        return f"is nested more than {MOST_DEPTH} levels deep"
    problem = str(getattr(fault, "problem", "") or fault).splitlines()[0][:200]
    if isinstance(fault, _Refused):
        return problem
    if "another document" in problem:
        return "a second document begins here (---); only one spec is allowed"
    typed = text.splitlines()[line - 1] if line and line <= len(text.splitlines()) else ""
    if "\t" in typed[: len(typed) - len(typed.lstrip())] or "'\\t'" in problem:
        return "is indented with a tab; YAML only allows spaces"
    context = str(getattr(fault, "context", "") or "")[:200]
    return (
        "is not valid YAML: "
        f"{f'{context}, ' if context else ''}{problem}{_advice(context + problem)}"
    )


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


class _Representer(RoundTripRepresenter):
    """Use block style for multi-line text, and quote text that YAML 1.1 would misread."""

    def represent_str(self, data: Any) -> ScalarNode:
        style = None
        if _UNPRINTABLE.search(data):
            style = '"'
        elif "\n" in data:
            style = "|"
        elif str(_YAML_1_1.resolve(ScalarNode, data, (True, False))) != _TEXT:
            style = "'"
        return self.represent_scalar(_TEXT, data, style=style)


_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_YAML_1_1 = VersionedResolver(version="1.1")
_Representer.add_representer(str, _Representer.represent_str)
