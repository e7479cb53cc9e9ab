"""Typed API objects. `raw` is the unmodified answer, including fields unknown to this version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

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
    raw: Json = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Attempt:
        return cls(
            data["index"],
            data["ordinal"],
            data["state"],
            data.get("node") or "",
            data.get("exit_code"),
            _reason(data.get("reason")),
            _time(data.get("started_at")),
            _time(data.get("finished_at")),
            dict(data),
        )


@dataclass(frozen=True)
class Job:
    """A job and its state.

    `exit_code` is that of the command; `return_code` also encodes signals and platform failures.
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
    raw: Json = field(default_factory=dict, repr=False, compare=False)

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
        plain = {
            n: data[n]
            for n in (
                "id",
                "number",
                "name",
                "state",
                "org",
                "team",
                "state_text",
                "priority",
                "exit_code",
                "attempt_count",
                "labels",
                "node",
                "cluster",
                "image",
                "page",
            )
            if data.get(n) is not None
        }
        resources = data.get("resources") or {}
        return cls(
            **plain,
            owner=(data.get("owner") or {}).get("email", ""),
            reason=_reason(data.get("reason")),
            pending=_pending(data.get("pending")),
            array_size=(data.get("array") or {}).get("size"),
            resources=Resources(
                resources.get("cpus", 0),
                resources.get("memory", 0),
                resources.get("gpus", 0),
                resources.get("gpu_type"),
            ),
            created_at=_time(data.get("created_at")),
            started_at=_time(data.get("started_at")),
            finished_at=_time(data.get("finished_at")),
            raw=dict(data),
        )


@dataclass(frozen=True)
class LogPage:
    """Bytes `start` to `end` of one attempt's log. `complete`: nothing will follow."""

    data: bytes
    start: int
    end: int
    complete: bool


def _shell_code(job: Job) -> int:
    """The exit code as in a shell: 128 + signal if a signal ended the job."""
    signals = [row.get("signal") for row in job.raw.get("attempts") or [] if row.get("signal")]
    code = job.exit_code
    if code is not None and code < 0:
        return 128 - code
    if code:
        return min(code, 255)
    if signals:
        return 128 + int(signals[0])
    return 137 if job.reason and job.reason.code == "out_of_memory" else 1


def _reason(data: Mapping[str, Any] | None) -> Reason | None:
    return (
        Reason(**{name: data.get(name) or "" for name in Reason.__dataclass_fields__})
        if data
        else None
    )


def _pending(data: Mapping[str, Any] | None) -> Pending | None:
    if not data:
        return None
    change, holders = data.get("change") or {}, data.get("holders") or []
    return Pending(
        data["code"],
        data.get("text") or "",
        change.get("text") or "",
        tuple(str(h.get("text", "")) for h in holders),
        _time(data.get("since")),
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
