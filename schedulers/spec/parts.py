"""Define spec values with their own syntax: accelerators, arrays and dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from schedulers.spec import grammar
from schedulers.spec.errors import EMPTY, invalid, plain, shown
from schedulers.spec.field_types import field_type, read_whole
from schedulers.spec.names import GPU_TYPE_PATTERN

MOST_GPUS = 128
MOST_TASKS = 10_000
_ANY_TYPE = ("gpu", "gpus", "any")
_ARRAY_KEYS = ("size", "range", "max_parallel")


@dataclass(frozen=True, slots=True)
class Accelerators:
    """GPUs on each node.

    `type` is lower-case as in resource classes ("h100", "mig-1g.10gb"); "" is any.
    """

    count: int = 0
    type: str = ""


def read_accelerators(value: object) -> Accelerators:
    """Read 1, "H100:8", "A100" or {"H100": 8}."""
    if isinstance(value, Mapping):
        if len(value) != 1:
            raise invalid(
                "must name one GPU type, such as {H100: 8}; ask for any type with a bare number"
            )
        [(name, count)] = value.items()
        return _accelerators(name, 1 if count is None else count)
    value = plain(value)
    if not isinstance(value, str):
        return _accelerators("", value)
    word, colon, count = value.strip().rpartition(":")
    if (not colon and not value.strip().isascii()) or not value.strip():
        raise _no_accelerators(value)
    if colon:
        return _accelerators(word, count)
    return _accelerators("", value) if value.strip().isdigit() else _accelerators(value, 1)


def _accelerators(name: object, count: object) -> Accelerators:
    if not isinstance(name, str):
        raise _no_accelerators(name)
    gpu_type = name.strip().lower()
    gpu_type = "" if gpu_type in _ANY_TYPE else gpu_type
    if gpu_type and not re.fullmatch(GPU_TYPE_PATTERN, gpu_type):
        raise _no_accelerators(name)
    count = plain(count)
    if isinstance(count, float | str) and re.fullmatch(
        r"\s*[0-9]*\.[0-9]*[1-9]0*\s*", str(count), re.ASCII
    ):
        raise invalid(
            "GPUs are whole; ask for a slice of one by its MIG type, such as mig-1g.10gb:1"
        )
    number = _whole(count, MOST_GPUS, "GPUs")
    return Accelerators(number, gpu_type if number else "")


def _no_accelerators(value: object) -> Exception:
    return invalid(
        f"{shown(value)} is not allowed: must be a count and a GPU type, such as 1, H100:8, A100 "
        f"or {{H100: 8}}"
    )


def write_accelerators(value: Accelerators) -> str | int:
    return f"{value.type}:{value.count}" if value.type else value.count


@dataclass(frozen=True, slots=True)
class Array:
    """The tasks of an array job.

    Tasks are counted from 0; `task_id` returns their IDs in the range of the user.
    """

    parts: tuple[range, ...]
    max_parallel: int = 0  # 0: unlimited

    @property
    def size(self) -> int:
        return sum(map(len, self.parts))

    def task_id(self, index: int) -> int:
        """Return the task ID at this 0-based index. Raises IndexError past the end."""
        for part in self.parts:
            if index < len(part):
                return part[index]
            index -= len(part)
        raise IndexError("the array has no such task")


def read_array(value: object) -> Array:
    """Read 100, "0-99:2%4" or {"size": 100, "max_parallel": 4}."""
    if value is None:
        raise invalid(EMPTY)
    if isinstance(value, Mapping):
        return _array_of_mapping(value)
    value = plain(value)
    if isinstance(value, str) and not value.strip().isdigit():
        ids, percent, limit = value.partition("%")
        return Array(_ids(ids), _whole(limit, MOST_TASKS, "tasks at a time", 1) if percent else 0)
    return Array((range(_whole(value, MOST_TASKS, "tasks", 1)),))


def _array_of_mapping(value: Mapping[Any, Any]) -> Array:
    unknown = [key for key in value if key not in _ARRAY_KEYS]
    if unknown:
        raise invalid(
            f"has the unknown key {shown(unknown[0])}; known are {', '.join(_ARRAY_KEYS)}"
        )
    if ("size" in value) == ("range" in value):
        raise invalid("must have either `size` (tasks 0 to size-1) or `range` (such as 1-99:2)")
    limit = _whole(plain(value.get("max_parallel")) or 0, MOST_TASKS, "tasks at a time")
    if "size" in value:
        return Array((range(_whole(value["size"], MOST_TASKS, "tasks", 1)),), limit)
    ids = plain(value["range"])
    return Array(_ids(str(ids) if isinstance(ids, int) and ids < MOST_TASKS else ids), limit)


def _ids(ids: object) -> tuple[range, ...]:
    if not isinstance(ids, str):
        raise invalid(f"{shown(ids)} is not allowed: must be ids such as 0-9, 1,5,9 or 1-99:2")
    try:
        return grammar.parse_range(ids, MOST_TASKS)
    except ValueError as fault:
        raise invalid(f"{shown(ids)} is not allowed: {fault}") from None


def write_array(value: Array | None) -> dict[str, Any] | None:
    if value is None:
        return None
    written: dict[str, Any] = {"range": grammar.format_range(value.parts)}
    if value.parts == (range(value.size),):
        written = {"size": value.size}
    return {**written, "max_parallel": value.max_parallel} if value.max_parallel else written


class Condition(StrEnum):
    """Required outcome of a dependency."""

    OK = "ok"
    ANY = "any"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Another job of the same organization, by its number (`#12`) or its UUID."""

    number: int | None = None
    id: UUID | None = None
    condition: Condition = Condition.OK

    def __str__(self) -> str:
        job = f"#{self.number}" if self.id is None else str(self.id)
        return job if self.condition is Condition.OK else f"{job}:{self.condition.value}"


def read_dependency(value: object) -> Dependency:
    """Read 12, "#12", "12:any" or a UUID."""
    value = plain(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Dependency(number=_whole(value, 10**9, "(the number of a job)", 1))
    if value is None:
        raise invalid('is empty; # begins a comment in YAML: write 12 or "#12"')
    match = isinstance(value, str) and re.fullmatch(
        r"#?([0-9]{1,9}|[0-9a-fA-F-]{32,36})(?::([a-z]{1,9}))?", value.strip(), re.ASCII
    )
    if not match:
        raise ValueError(
            'must be a job, such as 12, "#12" or its uuid, with a condition if not success: '
            '"#12:any", "#12:failed"'
        )
    job, word = match[1], match[2] or Condition.OK
    if word not in set(Condition):
        raise invalid(f"{shown(word)} is not a condition: must be one of {', '.join(Condition)}")
    condition = Condition(word)
    if len(job) <= 9:
        return Dependency(_whole(job, 10**9, "(the number of a job)", 1), condition=condition)
    try:
        return Dependency(id=UUID(job), condition=condition)
    except ValueError:
        raise invalid(f"{shown(job)} is not a uuid") from None


def write_dependency(value: Dependency) -> str | int:
    plain = value.number is not None and value.condition is Condition.OK
    return value.number if plain and value.number is not None else str(value)


def _whole(value: object, most: int, what: str, least: int = 0) -> int:
    try:
        return read_whole(value, least, most, f" {what}")
    except ValueError as fault:
        raise invalid(f"{shown(value)} is not allowed: {fault}") from None


_GPU_COUNT = {"type": "integer", "minimum": 0, "maximum": MOST_GPUS}
_TASK_COUNT = {"type": "integer", "minimum": 1, "maximum": MOST_TASKS}
_IDS = {"type": "string", "pattern": r"^[0-9\s,:-]+(%[0-9]+)?$"}

AcceleratorsField = Annotated[
    Accelerators,
    field_type(
        read_accelerators,
        {
            "anyOf": [
                _GPU_COUNT,
                {
                    "type": "string",
                    "pattern": r"^\s*([A-Za-z0-9][A-Za-z0-9._-]{0,39}\s*:\s*)?[A-Za-z0-9._-]+\s*$",
                },
                {"type": "object", "maxProperties": 1, "additionalProperties": _GPU_COUNT},
            ]
        },
        write_accelerators,
    ),
]
ArrayField = Annotated[
    Array | None,
    field_type(
        read_array,
        {
            "anyOf": [
                _TASK_COUNT,
                _IDS,
                {
                    "type": "object",
                    "additionalProperties": False,
                    "minProperties": 1,
                    "properties": {
                        "size": _TASK_COUNT,
                        "range": _IDS,
                        "max_parallel": {**_TASK_COUNT, "minimum": 0},
                    },
                },
            ]
        },
        write_array,
    ),
]
DependencyField = Annotated[
    Dependency,
    field_type(
        read_dependency,
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {
                    "type": "string",
                    "pattern": r"^\s*#?([0-9]{1,9}|[0-9a-fA-F-]{32,36})(:(ok|any|failed))?\s*$",
                },
            ]
        },
        write_dependency,
    ),
]
