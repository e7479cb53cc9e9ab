"""Compare two specs, for rerunning a job with changes and for showing a job next to its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedulers.spec.model import JOB, JobSpec
from schedulers.spec.sections import Section


@dataclass(frozen=True)
class Change:
    """A changed field in YAML notation, before and after; None where it is absent."""

    field: str
    before: Any
    after: Any


def diff(before: JobSpec, after: JobSpec) -> list[Change]:
    """Return the changes in field order.

    `envs`, `secrets`, `secret_files` and `labels` are compared per entry.
    """
    return list(_section_changes(JOB, before, after, ""))


def _section_changes(
    section: Section[Any], before: Any, after: Any, prefix: str
) -> Iterator[Change]:
    for name, row, _ in section.rows():
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if isinstance(row.kind, Section):
            yield from _section_changes(row.kind, old, new, f"{prefix}{name}.")
        elif isinstance(old, Mapping):
            yield from _entry_changes(old, new, f"{prefix}{name}.")
        else:
            yield Change(f"{prefix}{name}", _written(row.kind, old), _written(row.kind, new))


def _entry_changes(
    before: Mapping[str, str], after: Mapping[str, str], prefix: str
) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield Change(f"{prefix}{name}", before.get(name), after.get(name))


def _written(kind: Any, value: Any) -> Any:
    return None if value is None or value in ("", ()) else kind.write(value)
