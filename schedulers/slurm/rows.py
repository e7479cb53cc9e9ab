"""Parse jobs from squeue, sacct and slurmrestd. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# The comment is the last column because it may contain "|".
SQUEUE = "%A|%T|%r|%S|%e|%N|%j|%P|%a|%q|%u|%k"
SACCT = "JobIDRaw,State,ExitCode,Start,End,NodeList,MaxRSS,JobName"
CANCEL = re.compile(r"\[cancel (\d+) ([\d.]+)\] ")


@dataclass(frozen=True)
class Row:
    """A job as reported by Slurm.

    Times are in Unix seconds, 0 for unknown; `exit` is Slurm's "code:signal"; `peak` is in bytes.
    """

    id: int
    state: str
    key: str
    reason: str = ""
    started: float = 0
    ended: float = 0
    nodes: str = ""
    partition: str = ""
    account: str = ""
    qos: str = ""
    user: str = ""
    comment: str = ""
    exit: str = ""
    peak: int = 0

    @property
    def is_asked_to_end(self) -> bool:
        return bool(CANCEL.match(self.comment))


def squeue_rows(text: str) -> list[Row]:
    """Parse `squeue -o SQUEUE` with SLURM_TIME_FORMAT=%s; invalid lines are skipped."""
    return [row for line in text.splitlines() if (row := _squeue_row(line))]


class SqueueParser:
    """Parse repeated `squeue` listings, reusing the rows of unchanged lines."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Row] = {}

    def rows(self, out: bytes) -> list[Row]:
        """Parse like squeue_rows. Thread-safe: a concurrent result is equally valid."""
        before, rows = self._rows, {}
        for line in out.split(b"\n"):
            if row := before.get(line) or _squeue_row(line.decode(errors="replace")):
                rows[line] = row
        self._rows = rows
        return list(rows.values())


def _squeue_row(line: str) -> Row | None:
    words = line.split("|", 11)
    if len(words) < 12 or not words[0].isdigit():
        return None
    return Row(
        int(words[0]),
        words[1],
        words[6],
        words[2],
        _seconds(words[3]),
        _seconds(words[4]),
        words[5],
        words[7],
        words[8],
        words[9],
        words[10],
        words[11],
    )


def sacct_rows(text: str) -> list[Row]:
    """Parse `sacct -n -P -o SACCT`; the job's peak is the largest MaxRSS of its steps."""
    jobs: dict[int, Row] = {}
    for line in text.splitlines():
        words = line.split("|", 7)
        number, _, step = words[0].partition(".")
        if len(words) < 8 or not number.isdigit():
            continue
        peak = _bytes(words[6])
        if step:
            if (job := jobs.get(int(number))) and peak > job.peak:
                jobs[job.id] = replace(job, peak=peak)
        else:
            state = words[1].split()[0] if words[1] else ""  # "CANCELLED by 0"
            jobs[int(number)] = Row(
                int(number),
                state,
                words[7],
                started=_seconds(words[3]),
                ended=_seconds(words[4]),
                nodes=words[5] if words[5] != "None assigned" else "",
                exit=words[2],
                peak=peak,
            )
    return list(jobs.values())


def rest_row(job: Mapping[str, Any]) -> Row:
    """Parse one of `jobs` of any API version.

    Numbers may be objects, states lists, and the exit code a status string.
    """
    return Row(
        int(job["job_id"]),
        _state(job["job_state"]),
        str(job.get("name") or ""),
        # squeue prints the longer one, too
        str(job.get("state_description") or job.get("state_reason") or "").replace(" ", "_"),
        number_of(job.get("start_time")),
        number_of(job.get("end_time")),
        str(job.get("nodes") or ""),
        str(job.get("partition") or ""),
        str(job.get("account") or ""),
        str(job.get("qos") or ""),
        str(job.get("user_name") or ""),
        str(job.get("comment") or ""),
        _exit(job.get("exit_code")),
    )


def oldest(rows: Iterable[Row]) -> dict[str, Row]:
    """Return rows by key; of several with one key, the one with the lowest job number."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.key not in found or row.id < found[row.key].id:
            found[row.key] = row
    return found


def number_of(value: Any) -> float:
    """Parse a number: plain until v0.0.38, {"set": true, "number": 5} since v0.0.39."""
    if isinstance(value, Mapping):
        return float(value.get("number") or 0) if value.get("set", True) else 0
    return float(value or 0)


def _state(value: Any) -> str:
    """Parse a state: a string until v0.0.39, since then a list: ["RUNNING", "COMPLETING"].

    The flags after the state are more specific.
    """
    words = [str(word) for word in value] if isinstance(value, (list, tuple)) else [str(value)]
    return words[-1] if words else ""


def _exit(value: Any) -> str:
    if isinstance(value, Mapping):
        signal = value.get("signal") or {}
        return f"{int(number_of(value.get('return_code')))}:{int(number_of(signal.get('id', signal.get('signal_id'))))}"
    status = int(value or 0)
    return f"{status >> 8}:{status & 127}"


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0


def _bytes(text: str) -> int:
    """Parse the sizes of sacct: "204800K", "1.5M"."""
    match = re.fullmatch(r"([\d.]+)([KMGT]?)", text)
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2] or " ")) if match else 0
