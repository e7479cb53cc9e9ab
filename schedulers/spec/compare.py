"""Compare two specs, for rerunning a job with changes and for showing a job next to its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedulers.spec.model import JobSpec
from schedulers.spec.sections import Section


@dataclass(frozen=True)
class FieldChange:
    """A changed field in YAML notation, before and after; None where it is absent."""

    field: str
    before: Any
    after: Any


def diff(before: JobSpec, after: JobSpec) -> list[FieldChange]:
    """Return the changes in field order.

    Mappings, such as `envs` and `inputs`, are compared per entry.
    """
    return list(_changes(before, after, ""))


def _changes(before: Section, after: Section, prefix: str) -> Iterator[FieldChange]:
    written = before.model_dump(mode="json"), after.model_dump(mode="json")
    short = [side.model_dump(mode="json", exclude_defaults=True) for side in (before, after)]
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if isinstance(old, Section):
            yield from _changes(old, new, f"{prefix}{name}.")
        elif isinstance(old, Mapping):
            for key in dict.fromkeys([*old, *new]):
                if old.get(key) != new.get(key):
                    sides = (side.get(name, {}).get(key) for side in short)
                    yield FieldChange(f"{prefix}{name}.{key}", *sides)
        else:
            yield FieldChange(f"{prefix}{name}", *(_shown(side[name]) for side in written))


def _shown(value: Any) -> Any:
    return None if value in ("", []) else value
