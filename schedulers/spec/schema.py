"""The spec told to editors: a JSON schema, and the documentation of every field for completion as somebody types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schedulers.spec.field_types import ListOf, Schema
from schedulers.spec.model import JOB
from schedulers.spec.sections import Asked, Section


@dataclass(frozen=True)
class FieldDoc:
    """One field. `path` is dotted, with [] for "each item"; `default` is as it would be written, None for none."""

    path: str
    title: str
    doc: str
    default: Any
    is_required: bool
    values: tuple[str, ...]
    examples: tuple[Any, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "type": self.title,
            "doc": self.doc,
            "default": self.default,
            "required": self.is_required,
            "values": list(self.values),
            "examples": list(self.examples),
        }


def json_schema() -> Schema:
    """JSON schema (2020-12) of a spec, drawn from the parser's own tables."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Muster job spec",
        **JOB.schema(),
    }


def describe() -> list[FieldDoc]:
    """Every field, sections before what is in them, in the order of the tables."""
    return list(_described(JOB, ""))


def _described(section: Section[Any], prefix: str) -> Iterator[FieldDoc]:
    for name, row, default in section.rows():
        path = f"{prefix}{name}"
        yield FieldDoc(
            path,
            row.kind.title,
            row.doc,
            _written(row, default),
            row.is_required,
            row.kind.values,
            row.examples,
        )
        if isinstance(row.kind, Section):
            yield from _described(row.kind, f"{path}.")
        elif isinstance(row.kind, ListOf) and isinstance(row.kind.kind, Section):
            yield from _described(row.kind.kind, f"{path}[].")


def _written(row: Asked, default: Any) -> Any:
    """None where left out means "nothing": an empty text, list or mapping, or no limit."""
    written = None if default is None or row.is_required else row.kind.write(default)
    return None if written in ("", [], {}) else written
