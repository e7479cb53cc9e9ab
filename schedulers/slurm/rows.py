"""Parse jobs from squeue, sacct and slurmrestd. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Names and comments may contain anything, also line breaks. So they are the last columns, of a fixed
# number of bytes, and a job cannot imitate the line of another one.
SEPARATOR = "\x1f"
NAME_WIDTH = 100  # bytes; a key has at most as many characters
COMMENT_WIDTH = 250  # ours have at most as many characters
_MARK_WIDTH = (
    40  # bytes; what a listing of all jobs shows of comments: whether the end is requested
)
_COLUMNS = ("A", "T", "r", "S", "e", "N", "P", "a", "q", "u")
SACCT = "JobIDRaw,State,ExitCode,Start,End,NodeList,JobName"
STEPS = "JobIDRaw,MaxRSS"
CANCEL = re.compile(r"\[cancel (\d+) ([\d.]+)\] ")


@dataclass(frozen=True)
class Row:
    """A job as reported by Slurm.

    Times are in Unix seconds, 0 for unknown; `exit` is Slurm's "code:signal"; `peak` is in bytes;
    `canceled_by` is a user of the system, if known.
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
    canceled_by: str = ""

    @property
    def is_asked_to_end(self) -> bool:
        return bool(CANCEL.match(self.comment))


def records_of(columns: int, width: int) -> re.Pattern[bytes]:
    """Return the pattern of a record: a number, further columns, and `width` bytes of free text."""
    sep = SEPARATOR.encode()
    return re.compile(
        rb"(\d+)" + (sep + rb"([^" + sep + rb"]*)") * (columns - 1) + sep + rb"(.{%d})\n" % width,
        re.DOTALL,
    )


def contiguous(pattern: re.Pattern[bytes], out: bytes) -> Iterator[re.Match[bytes]]:
    """Return records that follow each other; what is no record ends with its line."""
    at, out = 0, out if out.endswith(b"\n") else out + b"\n"
    while at < len(out):
        if match := pattern.match(out, at):
            yield match
            at = match.end()
        else:
            at = out.index(b"\n", at) + 1


class SqueueFormat:
    """The columns of one `squeue` call, and the parser of its output."""

    def __init__(self, comment_width: int) -> None:
        columns = SEPARATOR.join(f"%{letter}" for letter in _COLUMNS)
        self.text = f"{columns}{SEPARATOR}%{NAME_WIDTH}j%{comment_width}k"
        self._record = records_of(len(_COLUMNS), NAME_WIDTH + comment_width)

    def row(self, line: bytes) -> Row | None:
        """Parse one record, without its line break; None if it is not one."""
        match = self._record.fullmatch(line + b"\n")
        return _squeue_row(*_words(match, NAME_WIDTH)) if match else None

    def records(self, out: bytes) -> list[bytes]:
        """Return the records, without their line breaks; what is not one is skipped."""
        return [match[0][:-1] for match in contiguous(self._record, out)]

    def rows(self, out: bytes) -> list[Row]:
        """Parse the output with SLURM_TIME_FORMAT=%s."""
        return [row for record in self.records(out) if (row := self.row(record))]


SQUEUE = SqueueFormat(COMMENT_WIDTH)
LISTING = SqueueFormat(_MARK_WIDTH)


class SqueueParser:
    """Parse repeated `squeue` listings, reusing the rows of unchanged lines."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Row] = {}

    def rows(self, out: bytes) -> list[Row]:
        """Parse LISTING. Thread-safe: a concurrent result is equally valid.

        A line that is a whole record is one: names and comments are too short to contain one.
        """
        before, rows = self._rows, {}
        lines = out.split(b"\n")
        if any(line and line not in before and not LISTING.row(line) for line in lines):
            lines = LISTING.records(out)  # some name or comment has a line break
        for line in lines:
            if row := before.get(line) or LISTING.row(line):
                rows[line] = row
        self._rows = rows
        return list(rows.values())


def _words(match: re.Match[bytes], width: int) -> tuple[list[str], str, str]:
    """Return the columns of a record, and the free text of `width` bytes, and that after it."""
    *columns, free = match.groups()
    texts = [word.decode(errors="replace") for word in columns]
    name, rest = (part.decode(errors="replace").rstrip() for part in (free[:width], free[width:]))
    return texts, name, rest


def _squeue_row(words: Sequence[str], name: str, comment: str) -> Row:
    number, state, reason, started, ended, nodes, partition, account, qos, user = words
    return Row(
        int(number),
        state,
        name,
        reason,
        _seconds(started),
        _seconds(ended),
        nodes,
        partition,
        account,
        qos,
        user,
        "" if comment == "(null)" else comment,
    )


def sacct_rows(text: str, steps: str = "") -> list[Row]:
    """Parse `sacct -X -n -P -o SACCT`, and `sacct -n -P -o STEPS`, which has no names of steps.

    The job's peak is the largest MaxRSS of its steps.
    """
    peaks: dict[str, int] = {}
    for line in steps.splitlines():
        number, _, peak = line.partition("|")
        job = number.partition(".")[0]
        peaks[job] = max(peaks.get(job, 0), _bytes(peak))
    return [
        Row(
            int(words[0]),
            words[1].split()[0] if words[1] else "",  # "CANCELLED by 0"
            words[6],
            started=_seconds(words[3]),
            ended=_seconds(words[4]),
            nodes=words[5] if words[5] != "None assigned" else "",
            exit=words[2],
            peak=peaks.get(words[0], 0),
        )
        for words in (line.split("|", 6) for line in text.splitlines())
        if len(words) == 7 and words[0].isdigit()
    ]


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
