"""Define spec fields with their own syntax: accelerators, arrays and dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from schedulers.spec import grammar
from schedulers.spec.errors import InvalidValue, Location, Report, shown
from schedulers.spec.field_types import Kind, Schema, Whole
from schedulers.spec.names import GPU_TYPE_PATTERN

MOST_GPUS = 128
MOST_TASKS = 10_000
_ANY_TYPE = ("gpu", "gpus", "any")


@dataclass(frozen=True, slots=True)
class Accelerators:
    """GPUs on each node.

    `type` is lower-case as in resource classes ("h100", "mig-1g.10gb"); "" is any.
    """

    count: int = 0
    type: str = ""


class AcceleratorsKind(Kind[Accelerators]):
    title = "GPUs per node: 1, H100:8, A100 or {H100: 8}"

    def read(self, value: object, place: Location) -> Accelerators:
        if isinstance(value, Mapping):
            return self._from_pair(value)
        if isinstance(value, str):
            word, colon, count = value.strip().rpartition(":")
            if (not colon and not value.strip().isascii()) or not value.strip():
                raise InvalidValue(self._fault(value))
            if colon:
                return self._made(word, count)
            return self._made("", value) if value.strip().isdigit() else self._made(value, 1)
        return self._made("", value)

    def write(self, value: Accelerators) -> str | int:
        return f"{value.type}:{value.count}" if value.type else value.count

    def schema(self) -> Schema:
        count = {"type": "integer", "minimum": 0, "maximum": MOST_GPUS}
        return {
            "anyOf": [
                count,
                {
                    "type": "string",
                    "pattern": r"^\s*([A-Za-z0-9][A-Za-z0-9._-]{0,39}\s*:\s*)?[A-Za-z0-9._-]+\s*$",
                },
                {"type": "object", "maxProperties": 1, "additionalProperties": count},
            ]
        }

    def _from_pair(self, value: Mapping[Any, Any]) -> Accelerators:
        if len(value) != 1:
            raise InvalidValue(
                "must name one GPU type, such as {H100: 8}; ask for any type with a bare number"
            )
        [(name, count)] = value.items()
        if not isinstance(name, str):
            raise InvalidValue(self._fault(name))
        return self._made(name, 1 if count is None else count)

    def _made(self, name: str, count: object) -> Accelerators:
        gpu_type = name.strip().lower()
        gpu_type = "" if gpu_type in _ANY_TYPE else gpu_type
        if gpu_type and not re.fullmatch(GPU_TYPE_PATTERN, gpu_type):
            raise InvalidValue(self._fault(name))
        if isinstance(count, float | str) and re.fullmatch(
            r"\s*[0-9]*\.[0-9]*[1-9]0*\s*", str(count), re.ASCII
        ):
            raise InvalidValue(
                "GPUs are whole; ask for a slice of one by its MIG type, such as mig-1g.10gb:1"
            )
        number = _whole(count, MOST_GPUS, "GPUs")
        return Accelerators(number, gpu_type if number else "")

    @staticmethod
    def _fault(value: object) -> str:
        return f"{shown(value)} is not allowed: must be a count and a GPU type, such as 1, H100:8, A100 or {{H100: 8}}"


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


class ArrayKind(Kind[Array | None]):
    title = "array: 100, 0-99:2%4 or {size: 100, max_parallel: 4}"
    keys = ("size", "range", "max_parallel")

    def read(self, value: object, place: Location) -> Array:
        if isinstance(value, Mapping):
            return self._from_mapping(value)
        if isinstance(value, str) and not value.strip().isdigit():
            ids, percent, limit = value.partition("%")
            return Array(
                self._parts(ids), _whole(limit, MOST_TASKS, "tasks at a time", 1) if percent else 0
            )
        return Array((range(_whole(value, MOST_TASKS, "tasks", 1)),))

    def write(self, value: Array | None) -> dict[str, Any] | None:
        if value is None:
            return None
        written: dict[str, Any] = {"range": grammar.format_range(value.parts)}
        if value.parts == (range(value.size),):
            written = {"size": value.size}
        return {**written, "max_parallel": value.max_parallel} if value.max_parallel else written

    def schema(self) -> Schema:
        number = {"type": "integer", "minimum": 1, "maximum": MOST_TASKS}
        ids = {"type": "string", "pattern": r"^[0-9\s,:-]+(%[0-9]+)?$"}
        whole = {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {"size": number, "range": ids, "max_parallel": {**number, "minimum": 0}},
        }
        return {"anyOf": [number, ids, whole]}

    def _from_mapping(self, value: Mapping[Any, Any]) -> Array:
        unknown = [key for key in value if key not in self.keys]
        if unknown:
            raise InvalidValue(
                f"has the unknown key {shown(unknown[0])}; known are {', '.join(self.keys)}"
            )
        if ("size" in value) == ("range" in value):
            raise InvalidValue(
                "must have either `size` (tasks 0 to size-1) or `range` (such as 1-99:2)"
            )
        limit = _whole(value.get("max_parallel") or 0, MOST_TASKS, "tasks at a time")
        if "size" in value:
            return Array((range(_whole(value["size"], MOST_TASKS, "tasks", 1)),), limit)
        ids = value["range"]
        return Array(
            self._parts(str(ids) if isinstance(ids, int) and ids < MOST_TASKS else ids), limit
        )

    @staticmethod
    def _parts(ids: object) -> tuple[range, ...]:
        if not isinstance(ids, str):
            raise InvalidValue(
                f"{shown(ids)} is not allowed: must be ids such as 0-9, 1,5,9 or 1-99:2"
            )
        try:
            return grammar.parse_range(ids, MOST_TASKS)
        except ValueError as fault:
            raise InvalidValue(f"{shown(ids)} is not allowed: {fault}") from None


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


class DependencyKind(Kind[Dependency]):
    title = 'a job, such as 12, "#12" or its uuid, with a condition if not success: "#12:any", "#12:failed"'
    values = tuple(Condition)

    def read(self, value: object, place: Location) -> Dependency:
        if isinstance(value, int) and not isinstance(value, bool):
            return Dependency(number=_whole(value, 10**9, "(the number of a job)", 1))
        if value is None:
            raise InvalidValue('is empty; # begins a comment in YAML: write 12 or "#12"')
        match = re.fullmatch(
            r"#?([0-9]{1,9}|[0-9a-fA-F-]{32,36})(?::([a-z]{1,9}))?", str(value).strip(), re.ASCII
        )
        if not isinstance(value, str) or not match:
            raise InvalidValue(f"{shown(value)} is not allowed: must be {self.title}")
        if (match[2] or "ok") not in self.values:
            raise InvalidValue(
                f"{shown(match[2])} is not a condition: must be one of {', '.join(self.values)}"
            )
        return self._made(match[1], Condition(match[2] or "ok"))

    def _made(self, job: str, condition: Condition) -> Dependency:
        if len(job) <= 9:
            return Dependency(
                number=_whole(job, 10**9, "(the number of a job)", 1), condition=condition
            )
        try:
            return Dependency(id=UUID(job), condition=condition)
        except ValueError:
            raise InvalidValue(f"{shown(job)} is not a uuid") from None

    def write(self, value: Dependency) -> str | int:
        plain = value.number is not None and value.condition is Condition.OK
        return value.number if plain and value.number is not None else str(value)

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {
                    "type": "string",
                    "pattern": r"^\s*#?([0-9]{1,9}|[0-9a-fA-F-]{32,36})(:(ok|any|failed))?\s*$",
                },
            ]
        }


def _whole(value: object, most: int, what: str, least: int = 0) -> int:
    try:
        return Whole(least, most).read(value, _NOWHERE)
    except InvalidValue:
        raise InvalidValue(
            f"{shown(value)} is not allowed: must be a whole number from {least} to {most:,} {what}"
        ) from None


_NOWHERE = Location(Report())  # a whole number is parsed from the value alone
