"""Typed API objects. `raw` is the unmodified answer, including fields unknown to this version.

An attribute has the name of the field that it is read from; `_READ` are those that are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from muster.shapes.jobs import AttemptShape, JobDetailShape

FINAL = frozenset({"succeeded", "failed", "canceled"})
Json = dict[str, Any]


@dataclass(frozen=True)
class Reason:
    """Why a job or attempt ended. `fault` is "user", "platform" or "nobody"."""

    code: str
    headline: str = ""
    advice: str = ""
    evidence: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Pending:
    """Why a job is pending.

    `change` describes the smallest change that would start it now; `holders` lists who uses the
    missing resources.
    """

    code: str
    text: str = ""
    change: str = ""
    holders: tuple[str, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True)
class Resources:
    """Resources of one task. Memory in bytes."""

    cpus: float = 0
    memory: int = 0
    gpus: int = 0
    gpu_type: str | None = None


@dataclass(frozen=True)
class Attempt:
    """One attempt of one task of a job."""

    index: int
    ordinal: int
    state: str
    node: str = ""
    exit_code: int | None = None
    reason: Reason | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    raw: AttemptShape = field(
        default_factory=lambda: cast("AttemptShape", {}), repr=False, compare=False
    )

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Attempt:
        return cls(**_read(cls, data))


@dataclass(frozen=True)
class Job:
    """A job and its state.

    `exit_code` is that of the command; `return_code` also encodes signals and platform failures.
    A job of a list has only those fields in `raw` that are in `JobShape`.
    """

    id: str
    number: int
    name: str
    state: str
    org: str = ""
    team: str = ""
    owner: str = ""
    state_text: str = ""
    reason: Reason | None = None
    pending: Pending | None = None
    priority: str = "normal"
    exit_code: int | None = None
    array_size: int | None = None
    attempt_count: int = 0
    resources: Resources = field(default_factory=Resources)
    labels: Mapping[str, str] = field(default_factory=dict)
    node: str = ""
    cluster: str = ""
    image: str = ""
    page: str = ""
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    raw: JobDetailShape = field(
        default_factory=lambda: cast("JobDetailShape", {}), repr=False, compare=False
    )

    def __getattr__(self, name: str) -> Any:
        """Return a field of the answer that is no attribute of its own, such as `spec`."""
        try:
            return self.__dict__["raw"][name]
        except KeyError:
            raise AttributeError(f"a job has no {name!r}") from None

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @property
    def attempts(self) -> list[Attempt]:
        """Attempts, if this job was fetched by `get`; list items have none."""
        return [Attempt.of(row) for row in self.raw.get("attempts") or []]

    @property
    def return_code(self) -> int:
        """Exit code of `muster run` for this job.

        0 succeeded, 130 canceled, 75 platform failure (a retry may help), 124 time limit,
        128 + signal, else the command's exit code.
        """
        if self.state == "succeeded":
            return 0
        if self.state == "canceled":
            return 130
        if self.reason and self.reason.fault == "platform":
            return 75
        if self.reason and self.reason.code == "time_limit":
            return 124
        return _shell_code(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Job:
        return cls(**_read(cls, data), array_size=(data.get("array") or {}).get("size"))


@dataclass(frozen=True)
class LogPage:
    """Bytes `start` to `end` of one attempt's log. `complete`: nothing will follow."""

    data: bytes
    start: int
    end: int
    complete: bool


def _shell_code(job: Job) -> int:
    """The exit code as in a shell: 128 + signal if a signal ended the job."""
    signals = [signal for row in job.raw.get("attempts", ()) if (signal := row.get("signal"))]
    code = job.exit_code
    if code is not None and code < 0:
        return 128 - code
    if code:
        return min(code, 255)
    if signals:
        return 128 + signals[0]
    return 137 if job.reason and job.reason.code == "out_of_memory" else 1


def _read(kind: type[Any], data: Mapping[str, Any]) -> Json:
    """Return the arguments of a record: its fields in the answer, some of them converted."""
    found = {one.name: data.get(one.name) for one in fields(kind)} | {"raw": dict(data)}
    return {
        name: _READ[name](value) if name in _READ else value
        for name, value in found.items()
        if value is not None
    }


def _reason(data: Mapping[str, Any]) -> Reason:
    return Reason(**{one.name: data.get(one.name) or "" for one in fields(Reason)})


def _pending(data: Mapping[str, Any]) -> Pending:
    return Pending(
        data["code"],
        data.get("text") or "",
        (data.get("change") or {}).get("text") or "",
        tuple(str(one.get("text", "")) for one in data.get("holders") or []),
        datetime.fromisoformat(data["since"]) if data.get("since") else None,
    )


def _resources(data: Mapping[str, Any]) -> Resources:
    return Resources(**{one.name: data[one.name] for one in fields(Resources) if one.name in data})


_READ: dict[str, Callable[[Any], Any]] = {
    "owner": lambda who: who["email"],
    "reason": _reason,
    "pending": _pending,
    "resources": _resources,
    "created_at": datetime.fromisoformat,
    "started_at": datetime.fromisoformat,
    "finished_at": datetime.fromisoformat,
}
