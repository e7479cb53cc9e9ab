"""Define sections: frozen dataclasses whose fields describe how they are parsed and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from schedulers.spec.errors import InvalidValue, Location, nearest, shown, shown_key
from schedulers.spec.field_types import Kind, Schema

T = TypeVar("T")
Check = Callable[[Any, Location], None]
_KEY = "asked"


@dataclass(frozen=True)
class Asked:
    """Type, documentation and examples of one field of a section."""

    kind: Kind[Any]
    doc: str
    examples: tuple[Any, ...] = ()
    is_required: bool = False
    is_null_refused: bool = False


def asked(
    kind: Kind[Any],
    default: T,
    doc: str,
    *,
    examples: tuple[Any, ...] = (),
    required: bool = False,
    null_refused: bool = False,
) -> T:
    """Declare a field of a section.

    `null_refused`: an empty value is an error, not the default.
    """
    metadata = {_KEY: Asked(kind, doc, examples, required, null_refused)}
    if isinstance(default, dict):
        return cast(T, dataclasses.field(default_factory=dict, metadata=metadata))
    return cast(T, dataclasses.field(default=default, metadata=metadata))


class Section(Kind[T]):
    """A mapping that is parsed into a dataclass.

    `elsewhere` maps keys of other tools to Muster's, for error messages; `check` validates the
    whole after every field is valid.
    """

    title = "mapping"

    def __init__(
        self,
        make: type[T],
        *,
        elsewhere: Mapping[str, str] | None = None,
        check: Check | None = None,
    ):
        self.make, self.elsewhere, self.check = make, dict(elsewhere or {}), check

    def rows(self) -> Iterator[tuple[str, Asked, Any]]:
        """Yield (name, declaration, default) of every field."""
        for row in dataclasses.fields(cast(Any, self.make)):
            made = (
                row.default_factory()
                if row.default_factory is not dataclasses.MISSING
                else row.default
            )
            yield row.name, row.metadata[_KEY], made

    def read(self, value: object, place: Location) -> T:
        if not isinstance(value, Mapping):
            raise InvalidValue(f"must be a mapping of keys to values, not {shown(value)}")
        faults = place.report.count
        self._refuse_unknown(value, place)
        made = self.make(
            **{
                name: self._read_field(name, row, default, value, place)
                for name, row, default in self.rows()
            }
        )
        if self.check is not None and place.report.count == faults:
            self.check(made, place)
        return made

    def _read_field(
        self, name: str, row: Asked, default: Any, value: Mapping[Any, Any], place: Location
    ) -> Any:
        at, item = place.key(name), value.get(name)
        if item is None and name in value and row.is_null_refused:
            at.add(
                "is empty; a value that begins with # must be in quotes, since # begins a comment"
            )
        elif item is None and row.is_required:
            at.add(f"is required: {row.doc}")
        elif item is not None:
            return at.read(row.kind, item, default)
        return default

    def _refuse_unknown(self, value: Mapping[Any, Any], place: Location) -> None:
        known = [name for name, _, _ in self.rows()]
        for key in value:
            if key in known:
                continue
            at = place.key(shown_key(key))
            if not isinstance(key, str):
                at.add("keys must be text")
            elif not place.report.is_full and key.lower() in self.elsewhere:
                at.add(f"is not a valid key: {self.elsewhere[key.lower()]}")
            else:
                hint = "" if place.report.is_full else nearest(key, known)
                at.add(f"is not a known key{hint or '; known are ' + ', '.join(known)}")

    def write(self, value: T) -> dict[str, Any]:
        """Return the fields that differ from their default."""
        found = ((name, row, getattr(value, name), default) for name, row, default in self.rows())
        return {
            name: row.kind.write(item)
            for name, row, item, default in found
            if item != default or row.is_required
        }

    def schema(self) -> Schema:
        schema: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: _field_schema(row, default) for name, row, default in self.rows()},
        }
        required = [name for name, row, _ in self.rows() if row.is_required]
        if required:
            schema["required"] = required
        return schema


def _field_schema(row: Asked, default: Any) -> Schema:
    schema = {"description": row.doc, **row.kind.schema()}
    if row.examples:
        schema["examples"] = list(row.examples)
    if isinstance(default, str | int | float) and not row.is_required and default != "":
        schema["default"] = row.kind.write(default)
    return schema
