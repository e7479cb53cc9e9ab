"""Compare a job's spec with the spec of the job that it reruns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import orjson

from jobs.kinds.reruns import parent_of
from jobs.models import Job
from jobs.specs.stored import spec_of
from schedulers.spec import JobSpec, diff
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

CONTEXT = 3  # unchanged lines that are shown around a change
LONG = 80  # characters; longer values are shown in the line diff only
MOST_STEPS = 5_000_000  # of the search for equal lines, which takes up to a quarter of a second


@dataclass(frozen=True)
class SpecChange:
    """A changed field with both values as text; None where the field is absent."""

    field: str
    before: str | None
    after: str | None

    @property
    def is_long(self) -> bool:
        """Whether a value is too long for one line."""
        return any("\n" in text or len(text) > LONG for text in (self.before, self.after) if text)


@dataclass(frozen=True)
class DiffLine:
    """A line of the YAML: "same", "removed" or "added"; or a "gap" of `count` unchanged lines."""

    kind: str
    text: str = ""
    count: int = 1


@dataclass(frozen=True)
class SpecDiff:
    """The difference from the spec of job number `parent`; no changes if both are equal."""

    parent: int
    changes: Sequence[SpecChange]
    lines: Sequence[DiffLine]


def spec_diff(actor: Actor, job: Job) -> SpecDiff | None:
    """Return the difference from the parent's spec; None without a parent that the actor may see."""
    parent = parent_of(job)
    if parent is None or not actor.may(Permission.JOBS_READ, parent.team_id):
        return None
    return compare(parent, spec_of(job))


def compare(parent: Job, spec: JobSpec) -> SpecDiff:
    """Return what `spec` changes in the spec of `parent`."""
    before = spec_of(parent)
    changes = [SpecChange(c.field, _text(c.before), _text(c.after)) for c in diff(before, spec)]
    return SpecDiff(parent.number, changes, list(diff_lines(before.to_yaml(), spec.to_yaml())))


def diff_lines(before: str, after: str) -> Iterator[DiffLine]:
    """Yield the lines of both texts, with long unchanged parts folded into a gap.

    Texts with very many equal lines are compared at both ends only, as the search would take long.
    """
    old, new = before.splitlines(), after.splitlines()
    for tag, start, end, new_start, new_end in _opcodes(old, new):
        if tag == "equal":
            yield from _folded(old[start:end], is_first=start == 0, is_last=end == len(old))
            continue
        yield from (DiffLine("removed", line) for line in old[start:end])
        yield from (DiffLine("added", line) for line in new[new_start:new_end])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return what `SequenceMatcher.get_opcodes` returns; its search is bounded."""
    length = min(len(old), len(new))
    head = next((n for n in range(length) if old[n] != new[n]), length)
    tail = next((n for n in range(length - head) if old[-1 - n] != new[-1 - n]), length - head)
    ends, new_ends = len(old) - tail, len(new) - tail
    counts, new_counts = Counter(old[head:ends]), Counter(new[head:new_ends])
    pairs = sum(count * new_counts[line] for line, count in counts.items())
    if pairs * min(ends - head, new_ends - head) <= MOST_STEPS:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        ("equal", 0, head, 0, head),
        ("replace", head, ends, head, new_ends),
        ("equal", ends, len(old), new_ends, len(new)),
    ]


def _folded(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[DiffLine]:
    head, tail = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
    hidden = len(lines) - head - tail
    if hidden < 2:
        yield from (DiffLine("same", line) for line in lines)
        return
    yield from (DiffLine("same", line) for line in lines[:head])
    yield DiffLine("gap", count=hidden)
    yield from (DiffLine("same", line) for line in lines[len(lines) - tail :])


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
