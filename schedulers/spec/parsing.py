"""Parse specs from YAML and from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schedulers.spec import document
from schedulers.spec.errors import (
    FieldError,
    SpecErrors,
    SpecReport,
    line_of,
    shown,
    shown_key,
)
from schedulers.spec.model import JobSpec
from schedulers.spec.sections import Section


@dataclass(frozen=True)
class Parsed:
    """A spec, the line of each field, and notes on ignored options (of `#SBATCH` scripts only)."""

    spec: JobSpec
    notes: tuple[FieldError, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, field_path: str) -> int | None:
        """Return the line of the field, or of the nearest enclosing field in the text."""
        return line_of(self.lines, field_path)


def parse_yaml(text: str) -> JobSpec:
    """Parse YAML. Raises only SpecErrors, with line numbers."""
    return parse_document(text).spec


def parse_document(text: str) -> Parsed:
    """Parse YAML and keep the line of each field. Raises only SpecErrors, with line numbers."""
    read = document.load(text)
    return Parsed(read_spec(read.data, SpecReport(read.lines)), lines=read.lines)


def parse_mapping(data: object) -> JobSpec:
    """Parse plain data, such as a JSON body. Raises only SpecErrors."""
    return read_spec(data, SpecReport())


def read_spec(data: object, report: SpecReport) -> JobSpec:
    """Parse plain data whose line numbers are in `report`.

    Raises SpecErrors, including all errors already recorded in the report.
    """
    if not isinstance(data, Mapping):
        raise SpecErrors(
            [
                FieldError(
                    "",
                    "must be a mapping such as `run: hostname`, with one `key: value` on each line",
                    1,
                )
            ]
        )
    try:
        spec = JobSpec.model_validate(data)
    except ValidationError as invalid:
        _report(invalid, data, report)
    report.raise_if_any()
    return spec


def _report(invalid: ValidationError, data: object, report: SpecReport) -> None:
    """Add the errors of pydantic to the report, unknown keys first."""
    invalid_names: set[str] = set()  # their values are not reported as well
    for error in sorted(invalid.errors(), key=lambda error: error["type"] not in _UNKNOWN):
        path = _path(error["loc"], data)
        if path not in invalid_names:
            report.add(path, "" if report.is_full else _message(error))
        if error["loc"][-1:] == ("[key]",):
            invalid_names.add(path)


def _path(loc: Sequence[str | int], data: object) -> str:
    """Return the place in the data as a path; parts of `loc` that are not in the data are left out.

    Such as the [key] of an invalid name, or the index of a value that stands for a list.
    """
    path = ""
    for part in loc:
        if isinstance(data, Mapping):
            path += f".{shown_key(part)}" if path else shown_key(part)
            data = data.get(part)
        elif isinstance(data, list | tuple) and isinstance(part, int):
            path += f"[{part}]"
            data = data[part]
    return path


def _message(error: ErrorDetails) -> str:
    kind, given, details = error["type"], error["input"], error.get("ctx", {})
    match kind:
        case "value_error":
            return f"{shown(given)} is not allowed: {details['error']}"
        case "missing":
            *section, name = error["loc"]
            return f"is required: {_section(section).model_fields[str(name)].description}"
        case "extra_forbidden":
            *section, name = error["loc"]
            return _section(section).message_for_unknown(str(name))
        case "invalid_key":
            return "keys must be text"
        case "dict_type":
            return f"must be a mapping of names to values, not {shown(given)}"
        case "tuple_type":
            return f"must be a list, not {shown(given)}"
        case "too_long":
            items = "entries" if isinstance(given, Mapping) else "items"
            return f"has {len(given):,} {items}; at most {details['max_length']:,} are allowed"
    return error["msg"]


_UNKNOWN = {"extra_forbidden", "invalid_key"}


def _section(loc: Sequence[str | int]) -> type[Section]:
    section: Any = JobSpec
    parts = iter(loc)
    for part in parts:
        if isinstance(part, str):
            kind = section.model_fields[part].annotation
            if get_origin(kind) is dict:  # dict[name, Input]: the next part is the name
                next(parts, None)
                section = get_args(kind)[1]
            else:
                section = (get_args(kind) or [kind])[0]  # tuple[Port, ...], Best | None
    return section  # type: ignore[no-any-return]
