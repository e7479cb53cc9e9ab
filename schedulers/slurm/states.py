"""From what Slurm and the job's own records say to what the portal is told. Pure; one table, native state -> ours."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from signal import SIGKILL
from typing import Any

from schedulers.contract import Observation
from schedulers.exit_reasons import Ending, Verdict, classify
from schedulers.slurm import pending_reasons
from schedulers.slurm.hostlist import expand
from schedulers.slurm.images import image_trouble
from schedulers.slurm.rows import Row
from schedulers.states import Reason, State

log = logging.getLogger(__name__)

_LIVE = {
    "PENDING": State.SUBMITTED,
    "REQUEUED": State.SUBMITTED,
    "REQUEUE_FED": State.SUBMITTED,
    "REQUEUE_HOLD": State.SUBMITTED,
    "SPECIAL_EXIT": State.SUBMITTED,
    "RESV_DEL_HOLD": State.SUBMITTED,
    "CONFIGURING": State.STARTING,
    "POWER_UP_NODE": State.STARTING,
    "RUNNING": State.RUNNING,
    "RESIZING": State.RUNNING,
    "SUSPENDED": State.RUNNING,
    "STOPPED": State.RUNNING,
    "SIGNALING": State.RUNNING,
    "STAGE_OUT": State.RUNNING,
    "COMPLETING": State.RUNNING,  # that it ends is not that we asked: we would ask again, and it would look so
}
FORGOTTEN = "FORGOTTEN"  # our word beside Slurm's own
_ENDS = {
    "PREEMPTED": (Reason.PREEMPTED, "Slurm took its nodes for a job of higher priority."),
    "NODE_FAIL": (Reason.NODE_FAILED, "A node of it stopped answering to Slurm."),
    "BOOT_FAIL": (Reason.NODE_FAILED, "A node did not start for it."),
    "LAUNCH_FAILED": (Reason.NODE_FAILED, "A node could not launch it."),
    "RECONFIG_FAIL": (Reason.NODE_FAILED, "A node could not be set up for it."),
    "TIMEOUT": (Reason.TIME_LIMIT, "It ran for its whole time limit."),
    "DEADLINE": (Reason.TIME_LIMIT, "It could not end before its deadline."),
    "REVOKED": (Reason.CANCELED, "A sibling of it started on another cluster."),
    "CANCELLED": (Reason.CANCELED, ""),
    FORGOTTEN: (
        Reason.FORGOTTEN,
        "Slurm forgot it when its controller was started again, and ended what ran of it.",
    ),
}
_BRIEF = 5.0  # seconds that a node takes at most to find that it cannot start a script
_FRESH = 30.0  # seconds; slurmctld knows a job that ended for MinJobAge, 300 s
_UNLAUNCHED = re.compile(r"[^a-z]*launch[^a-z]*failed", re.IGNORECASE)
_OOM = re.compile(r"oom[-_]kill", re.IGNORECASE)
_OVER_MEMORY = re.compile(r"exceeded memory limit \((\d+) > (\d+)\), being killed")
_SRUN = re.compile(
    r"^srun: error: \S+: tasks? [\d,-]+: Exited with exit code \d+$", re.MULTILINE
)  # what follows is of ranks that were ended
_NO_FILES = 53
_WHY_BACK = re.compile(r"CANCELLED AT \S+ DUE TO (PREEMPTION|JOB REQUEUE|NODE FAILURE)")
_PUT_BACK = {
    "PREEMPTION": (Reason.PREEMPTED, "Slurm took its nodes for a job of higher priority."),
    "JOB REQUEUE": (
        Reason.INTERRUPTED,
        "Somebody put it back into Slurm's queue (`scontrol requeue`).",
    ),
    "NODE FAILURE": (Reason.NODE_FAILED, "A node of it stopped answering to Slurm."),
}
_BY_EXIT = ("COMPLETED", "FAILED", "OUT_OF_MEMORY")


@dataclass(frozen=True)
class Record:
    """What the batch script wrote on its own: times in Unix seconds, `code` None while there is no end; the limits that the job
    was given (memory in bytes, time in seconds, 0 for none); the numbers of later jobs with its key, which ended at once; of several
    ranks, the first that failed: then `code` is its own."""

    id: str = ""
    started: float = 0
    node: str = ""
    code: int | None = None
    asked: str = ""
    ended: float = 0
    memory: int = 0
    limit: float = 0
    is_again: bool = False
    refused: frozenset[int] = frozenset()
    rank: int | None = None

    @property
    def is_cut_off(self) -> bool:
        """Killed, and nobody had asked for it: a node that ends a forgotten job does so process by process, the script last."""
        return self.code == 128 + SIGKILL and not self.asked


@dataclass(frozen=True)
class Evidence:
    """The ends of the job's output, and of what Slurm said."""

    tail: str = ""
    said: str = ""


def is_put_back(row: Row, record: Record) -> bool:
    """Slurm took its nodes away and put it into its queue again (slurmrestd v0.0.38 cannot forbid that): the attempt has ended."""
    return record.is_again or bool(record.started and _LIVE.get(row.state) == State.SUBMITTED)


def is_unlaunched(row: Row) -> bool:
    """A node refused to start its script, and Slurm holds it for ever: so it goes when a controller that was started again counts job
    numbers anew which its nodes know already."""
    return bool(_UNLAUNCHED.match(row.reason))


def may_have_run(row: Row) -> bool:
    """Its files may say more than its row, which is of a job that is not over."""
    return row.state != "PENDING" or row.reason == "BeginTime" or is_unlaunched(row)


def is_of_another(row: Row, record: Record) -> bool:
    """The record was begun, and not ended by itself, by a job that the controller has forgotten since; this one was sent in its place, perhaps
    under the same number, and its script refuses to run a second time."""
    is_cut_off = record.is_cut_off and row.ended - record.ended < _FRESH
    if not (record.code is None or is_cut_off) or not record.started or not record.id.isdigit():
        return False
    return int(record.id) != row.id or (row.id in record.refused and row.state == "COMPLETED")


def is_unstarted(row: Row, record: Record) -> bool:
    """FAILED at once, and its script left no sign: so it goes where its number still runs on the node, of a job that was forgotten."""
    is_brief = row.started > 0 and row.ended - row.started <= _BRIEF
    return (
        not record.started
        and row.state == "FAILED"
        and row.exit == "1:0"
        and is_brief
        and not row.is_asked_to_end
    )


def left(key: str, record: Record, now: float) -> Row | None:
    """In place of what the controller does not know any more: the end that the job wrote down itself."""
    if record.code is None or not record.id.isdigit():
        return None
    is_forgotten = record.is_cut_off and now - record.ended < _FRESH
    state = "COMPLETED" if record.code == 0 else FORGOTTEN if is_forgotten else "FAILED"
    return Row(int(record.id), state, key, exit=f"{record.code}:0")


def is_over(native: str) -> bool:
    """Nothing of it will run again."""
    return native in _ENDS or native in _BY_EXIT


def live(row: Row, record: Record) -> Observation | None:
    """Of a job that is not over; None for a state that is not in the table, which is never guessed."""
    state = _LIVE.get(row.state)
    if state is None:
        log.warning("Slurm job %s is in a state that is not known: %r", row.id, row.state[:40])
        return None
    if row.is_asked_to_end and state > State.SUBMITTED:
        state = State.STOPPING
    if state == State.SUBMITTED:
        return Observation(
            row.key, state, row.state, str(row.id), waiting=pending_reasons.waiting(row)
        )
    return Observation(
        row.key,
        state,
        row.state,
        str(row.id),
        started_at=_time(record.started or row.started),
        **_where(row, record),
    )


def ended(row: Row, record: Record, evidence: Evidence) -> Observation:
    """Of a job that is over: by its own record where it left one, else by what Slurm says."""
    code, number = _exit(row, record)
    row = _with_memory(row, number, evidence)
    verdict = _verdict(row, record, evidence, code, number)
    if verdict.reason == Reason.CANCELED and not record.started:
        code = number = None
    return Observation(
        row.key,
        verdict.reason.final_state,
        row.state,
        str(row.id),
        reason=verdict.reason,
        exit_code=code,
        signal=number,
        evidence=verdict.evidence,
        started_at=_time(record.started or _started(row)),
        finished_at=_time(record.ended or row.ended),
        peak_memory=row.peak or None,
        **_where(row, record),
    )


def _with_memory(row: Row, number: int | None, evidence: Evidence) -> Row:
    """Where Slurm counts memory by itself, without control groups, it kills the job and says so only in words. So it is with what only
    the job's own record tells of."""
    said = _OVER_MEMORY.findall(evidence.said + evidence.tail) if number == SIGKILL else []
    if not said and not (row.state == FORGOTTEN and _OOM.search(evidence.said)):
        return row
    return replace(
        row, state="OUT_OF_MEMORY", peak=max([row.peak, *(int(peak) for peak, _ in said)])
    )


def _verdict(
    row: Row, record: Record, evidence: Evidence, code: int | None, number: int | None
) -> Verdict:
    if is_of_another(row, record) and not row.is_asked_to_end:
        return Verdict(
            Reason.FORGOTTEN,
            f"Slurm forgot its job {record.id} when its controller was started again, and ended what ran of it.",
        )
    if (
        is_unlaunched(row)
        and (record.code is None or record.is_cut_off)
        and not row.is_asked_to_end
    ):  # its number was another's
        return Verdict(Reason.FORGOTTEN, "A node refused to start it, and Slurm held it back.")
    is_taken_back = (
        row.state == "CANCELLED" and record.started and _WHY_BACK.search(evidence.said)
    )  # by us, after Slurm put it back
    if (is_put_back(row, record) or is_taken_back) and not row.is_asked_to_end:
        return _put_back(evidence.said)
    if row.state == "OUT_OF_MEMORY":
        return _over_memory(row, record, evidence)
    if (
        row.state in _ENDS and record.asked != "time"
    ):  # Slurm, too, sends SIGTERM first: that alone tells nothing
        reason, words = _ENDS[row.state]
        return Verdict(
            Reason.CANCELED if row.is_asked_to_end else reason, "" if row.is_asked_to_end else words
        )
    if not record.started and row.state == "FAILED" and not row.is_asked_to_end:
        is_silent = is_unstarted(row, record) and not evidence.said.strip()
        return Verdict(
            Reason.FORGOTTEN if is_silent else Reason.PLATFORM_ERROR, _unstarted(number, evidence)
        )
    if record.code and not record.asked and (trouble := image_trouble(record.code, evidence.tail)):
        return trouble
    asked = record.asked or ("cancel" if row.is_asked_to_end and record.code is None else "")
    tail = evidence.tail if record.rank is None else _SRUN.split(evidence.tail, maxsplit=1)[0]
    verdict = classify(
        Ending(code, number, tail or evidence.said, asked, time_limit=record.limit or None)
    )
    return (
        verdict
        if record.rank is None
        else replace(verdict, evidence=f"Rank {record.rank}: {verdict.evidence}")
    )


def _put_back(said: str) -> Verdict:
    """Why, in what Slurm wrote last as it ended the job on its node."""
    why = (_WHY_BACK.findall(said) or [""])[-1]
    reason, words = _PUT_BACK.get(
        why,
        (
            Reason.NODE_FAILED,
            "Slurm put it back into its queue: a node of it failed, or was needed for another job.",
        ),
    )
    return Verdict(reason, words)


def _unstarted(number: int | None, evidence: Evidence) -> str:
    """Slurm's 53 means that a node could not open the job's files."""
    why = (
        "A node could not write to the spool."
        if number == _NO_FILES
        else "A node did not start its script."
    )
    return f"{why} {(evidence.said.strip().splitlines() or [''])[-1]}".strip()[:500]


def _over_memory(row: Row, record: Record, evidence: Evidence) -> Verdict:
    if row.peak and record.memory:
        return classify(Ending(None, 9, peak=row.peak, limit=record.memory, is_over_memory=True))
    limit = f" of {record.memory >> 20} MiB" if record.memory else ""
    said = next(
        (
            line.strip()
            for line in reversed(evidence.said.splitlines())
            if "oom" in line.lower() or "memory" in line.lower()
        ),
        "",
    )
    return Verdict(
        Reason.OUT_OF_MEMORY,
        f"It went over its memory{limit} and was stopped. {said}".strip()[:500],
    )


def _exit(row: Row, record: Record) -> tuple[int | None, int | None]:
    """Exit code and signal. A shell tells a signal as 128 and its number."""
    if record.code is not None:
        return record.code, record.code - 128 if 128 < record.code < 193 else None
    if row.state == "COMPLETED":
        return 0, None
    if is_put_back(row, record):  # what Slurm says now is of a run that never was
        return None, None
    code, _, number = row.exit.partition(":")
    if not code.isdigit():
        return None, None
    signal = int(number) if number.isdigit() and int(number) else None
    return (None if signal else int(code)), signal or (
        int(code) - 128 if 128 < int(code) < 193 else None
    )


def _started(row: Row) -> float:
    """Slurm gives one that was canceled before it started its end as its start."""
    return 0 if row.state == "CANCELLED" and not row.nodes else row.started


def _time(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _where(row: Row, record: Record) -> dict[str, Any]:
    """The node its script ran on, which is the first, and all of them where there are several."""
    names = expand(row.nodes)
    node = record.node or next(iter(names), "")
    if node in names:
        names = (node, *(name for name in names if name != node))
    return {"node": node, "nodes": names if len(names) > 1 else ()}
