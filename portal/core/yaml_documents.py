"""Read YAML that users wrote, as data for JSON, at a bounded cost.

PyYAML's safe loader runs no code, but aliases and merge keys (`<<`) let a few lines stand for
gigabytes. Here the events are counted first (libyaml: 2 million a second), then each value is built
once for every place where it stands, within the same limits. Whatever JSON lacks becomes text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from portal.core.messages import Message

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"
_STANDARD = "tag:yaml.org,2002:"
_SCALARS = {"str", "null", "bool", "int", "float", "timestamp", "binary", "value"}
_KNOWN = frozenset(
    f"{_STANDARD}{name}" for name in _SCALARS | {"seq", "map", "set", "omap", "pairs"}
)
_WHOLE = 1 << 63  # integers of JSON parsers have 64 bits
_MERGES = 1000  # in a document
_LONGEST_NUMBER = 100  # characters


class BadYaml(ValueError):
    """The text is not YAML, or more than is read; `message` says what is wrong."""

    def __init__(self, message: Message):
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Limits:
    """What a document may have: bytes of the text, values with repeated ones, levels, aliases."""

    size: int = 256 << 10
    values: int = 10_000
    depth: int = 40
    aliases: int = 1000


DEFAULT = Limits()


def load(text: str | bytes, limits: Limits = DEFAULT) -> Any:
    """Return the one document of a text as data for JSON; None if it is empty. Raises BadYaml.

    Keys are text, as typed. Dates, binary data, NaN, infinities and integers beyond 64 bits are
    text; sets are mappings to null.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    try:
        check(data, limits)
        loader = _Loader(data)
        try:
            root = loader.get_single_node()
            return None if root is None else _Builder(loader, limits).build(root, 0)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise BadYaml(_explained(error)) from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadYaml):
            raise
        raise BadYaml(Message("It is not valid YAML.")) from error


def check(data: bytes, limits: Limits = DEFAULT) -> None:
    """Count what a text has, before anything is built from it. Raises BadYaml, yaml.YAMLError."""
    if len(data) > limits.size:
        raise BadYaml(
            Message("It has {n} bytes; at most {most} are read.", n=len(data), most=limits.size)
        )
    values = depth = aliases = 0
    for event in yaml.parse(data, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
        elif isinstance(event, yaml.NodeEvent):
            values += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if values > limits.values:
            raise _too_many(limits)
        if depth > limits.depth:
            raise BadYaml(
                Message("It is nested more than {depth} levels deep.", depth=limits.depth)
            )
        if aliases > limits.aliases:
            raise BadYaml(Message("It has more than {n} aliases (*name).", n=limits.aliases))


class _Builder:
    """Build data from nodes, and count every place where a node stands."""

    def __init__(self, loader: yaml.SafeLoader, limits: Limits):
        self._loader, self._limits = loader, limits
        self._left, self._bytes, self._merges = limits.values, 4 * limits.size, _MERGES

    def build(self, node: yaml.Node, depth: int) -> Any:
        self._count(node, depth)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, depth + 1) for item in node.value]
        return self._scalar(node)

    def _count(self, node: yaml.Node, depth: int) -> None:
        self._left -= 1
        self._bytes -= len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        if self._left < 0 or self._bytes < 0:
            raise _too_many(self._limits)
        if node.tag not in _KNOWN:
            raise BadYaml(
                Message("It has the tag {tag}, which is not supported.", tag=node.tag[:60])
            )
        if depth > self._limits.depth:
            raise BadYaml(
                Message("It is nested more than {depth} levels deep.", depth=self._limits.depth)
            )

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = {**self._merged(value, depth), **merged}
            elif not isinstance(key, yaml.ScalarNode):
                raise BadYaml(Message("A key is a list or a mapping; keys must be text."))
            else:
                self._count(key, depth)
                own[_clean(key.value)] = self.build(value, depth + 1)
        return {**merged, **own}

    def _merged(self, value: yaml.Node, depth: int) -> dict[str, Any]:
        """Return what a merge key adds; of several mappings the first wins."""
        found: dict[str, Any] = {}
        for node in reversed(value.value if isinstance(value, yaml.SequenceNode) else [value]):
            self._merges -= 1
            if self._merges < 0:
                raise _too_many(self._limits)
            if not isinstance(node, yaml.MappingNode):
                raise BadYaml(Message("A merge key (<<) takes a mapping, or a list of them."))
            found |= self.build(node, depth + 1)
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        kind = node.tag.removeprefix(_STANDARD)
        # Longer numbers are text: those of base 60 (1:30) take quadratic time.
        if kind not in {"null", "bool", "int", "float"} or len(node.value) > _LONGEST_NUMBER:
            return _clean(node.value)
        try:
            value = self._loader.construct_object(node)
        except (ValueError, LookupError, yaml.YAMLError):  # such as `_` or `!!bool x`
            return _clean(node.value)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if is_whole and not -_WHOLE <= value < _WHOLE:
            return node.value
        return node.value if isinstance(value, float) and value - value != 0 else value


def _clean(text: str) -> str:
    """Return the text without halves of UTF-16 pairs, which UTF-8 does not have."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _too_many(limits: Limits) -> BadYaml:
    return BadYaml(
        Message(
            "It has more than {n} values, repeated ones included; that is more than is read.",
            n=limits.values,
        )
    )


def _explained(error: yaml.YAMLError) -> Message:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error).splitlines()[0][:200]
    if mark is None:
        return Message("It is not valid YAML: {problem}", problem=problem)
    return Message("Line {line} is not valid YAML: {problem}", line=mark.line + 1, problem=problem)
