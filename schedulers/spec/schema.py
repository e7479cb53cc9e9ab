"""Describe the spec for editors: a JSON schema, and documentation for completion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schedulers.spec.field_types import ListOf, Schema
from schedulers.spec.model import JOB
from schedulers.spec.sections import Asked, Section


@dataclass(frozen=True)
class FieldDoc:
    """Documentation of one field.

    `path` is dotted, with [] for "each item"; `default` is in YAML notation, None for none.
    """

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
    """Return the JSON schema (2020-12) of a spec, built from the field tables."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Muster job spec",
        **JOB.schema(),
    }


def describe() -> list[FieldDoc]:
    """Return every field in table order, sections before their fields."""
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
    """Format a default; None if an empty value means "nothing" or "no limit"."""
    written = None if default is None or row.is_required else row.kind.write(default)
    return None if written in ("", [], {}) else written
