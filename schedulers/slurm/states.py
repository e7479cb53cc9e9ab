"""Derive the state of a job from Slurm and from the job's own records.

Pure; one table maps native states to ours.
"""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from signal import SIGKILL, SIGTERM
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Observation, PendingReason
from schedulers.exit_reasons import EndReason, ProcessEnd, classify
from schedulers.programs import input_failure
from schedulers.slurm import lost_output, pending_reasons
from schedulers.slurm.hostlist import expand
from schedulers.slurm.images import image_trouble
from schedulers.slurm.lost_output import LostOutput
from schedulers.slurm.rows import Row
from schedulers.states import Reason, State, Wait

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
    "COMPLETING": State.RUNNING,  # not STOPPING, which would look like a cancellation of ours
}
FORGOTTEN = "FORGOTTEN"  # our addition to Slurm's states
_ENDS = {
    "PREEMPTED": (Reason.PREEMPTED, Message("Slurm took its nodes for a job of higher priority.")),
    "NODE_FAIL": (Reason.NODE_FAILED, Message("One of its nodes stopped responding to Slurm.")),
    "BOOT_FAIL": (Reason.NODE_FAILED, Message("One of its nodes failed to boot.")),
    "LAUNCH_FAILED": (Reason.NODE_FAILED, Message("A node failed to launch it.")),
    "RECONFIG_FAIL": (Reason.NODE_FAILED, Message("A node could not be prepared for it.")),
    "TIMEOUT": (Reason.TIME_LIMIT, Message("It ran for its whole time limit.")),
    "DEADLINE": (Reason.TIME_LIMIT, Message("It could not finish before its deadline.")),
    "REVOKED": (Reason.CANCELED, Message("Its sibling job started on another cluster.")),
    "CANCELLED": (Reason.CANCELED, ""),
    FORGOTTEN: (
        Reason.LOST_BY_SCHEDULER,
        Message("Slurm forgot it when its controller was started again, and ended what ran of it."),
    ),
}
_BRIEF = 5.0  # seconds a node takes at most to find that it cannot start a script
_FRESH = 30.0  # seconds; slurmctld keeps an ended job for MinJobAge, 300 s
_UNLAUNCHED = re.compile(r"[^a-z]*launch[^a-z]*failed", re.IGNORECASE)
_OOM = re.compile(r"oom[-_]kill", re.IGNORECASE)
_OVER_MEMORY = re.compile(r"exceeded memory limit \((\d+) > (\d+)\), being killed")
# later messages come from ranks that were killed
_SRUN = re.compile(r"^srun: error: \S+: tasks? [\d,-]+: Exited with exit code \d+$", re.MULTILINE)
_NODE_FAILURE = re.compile(r"^srun: error: Node failure on ", re.MULTILINE)
_NO_FILES = 53
NO_ROOM = 74  # exit code of the batch script if it could not write its files (EX_IOERR)
_WHY_BACK = re.compile(r"CANCELLED AT \S+ DUE TO (PREEMPTION|JOB REQUEUE|NODE FAILURE)")
_PUT_BACK = {
    "PREEMPTION": (Reason.PREEMPTED, Message("Slurm took its nodes for a job of higher priority.")),
    "JOB REQUEUE": (
        Reason.INTERRUPTED,
        Message("Somebody put it back into Slurm's queue (`scontrol requeue`)."),
    ),
    "NODE FAILURE": (Reason.NODE_FAILED, Message("One of its nodes stopped responding to Slurm.")),
}
# what a full disk may cause, or make worthless
_FULL_DISK = {Reason.COMPLETED, Reason.USER_ERROR, Reason.PLATFORM_ERROR, Reason.DISK_FULL}
_BY_EXIT = ("COMPLETED", "FAILED", "OUT_OF_MEMORY")


@dataclass(frozen=True)
class Record:
    """The records of the batch script.

    Times are in Unix seconds; `code` is None before the end; the limits are those of the job
    (memory in bytes, time in seconds, 0 for none). Also the numbers of later jobs with this key,
    which exited at once, and of several ranks the first that failed: `code` is its exit code.
    """

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
    fetching: str = ""  # the inputs that the first node fetches
    lost: tuple[LostOutput, ...] = ()  # the output that the disk did not take

    @property
    def is_cut_off(self) -> bool:
        """Whether the job was killed without a request.

        A node that ends an unknown job kills one process after another, the script last.
        """
        return self.code == 128 + SIGKILL and not self.asked


@dataclass(frozen=True)
class Evidence:
    """The last part of the job's output and of Slurm's messages.

    `is_full`: the disk of the spool has no room, which a job without a record may be the victim of.
    """

    tail: str = ""
    output: str = ""
    is_full: bool = False


def is_requeued(row: Row, record: Record) -> bool:
    """Return whether Slurm requeued the job, which ends the attempt.

    slurmrestd v0.0.38 cannot disable requeueing.
    """
    return record.is_again or bool(record.started and _LIVE.get(row.state) == State.SUBMITTED)


def has_own_end(record: Record, evidence: Evidence) -> bool:
    """Return whether the job ended by itself, which wins over what Slurm did with it later.

    A controller that restarts with an older state takes an ended job for one that its node lost.
    What was ended from outside (requested, killed, or after another node failed) does not count.
    """
    if record.code is None or record.asked:
        return False
    is_killed = record.code in (128 + SIGKILL, 128 + SIGTERM)
    return record.code == 0 or not (
        is_killed or _WHY_BACK.search(evidence.output) or _NODE_FAILURE.search(evidence.tail)
    )


def is_unlaunched(row: Row) -> bool:
    """Return whether a node refused to start the script and Slurm holds the job forever.

    Happens when a restarted controller reuses job numbers that its nodes still know.
    """
    return bool(_UNLAUNCHED.match(row.reason))


def may_have_run(row: Row) -> bool:
    """Return whether the files of an unfinished job may know more than its row."""
    return row.state != "PENDING" or row.reason == "BeginTime" or is_unlaunched(row)


def is_of_another(row: Row, record: Record) -> bool:
    """Return whether the record belongs to an earlier job that the controller lost.

    That job started and recorded no end of its own. This one was submitted in its place, perhaps with the
    same number; its script refuses to run a second time.
    """
    is_cut_off = record.is_cut_off and row.ended - record.ended < _FRESH
    if not (record.code is None or is_cut_off) or not record.started or not record.id.isdigit():
        return False
    return int(record.id) != row.id or (row.id in record.refused and row.state == "COMPLETED")


def is_unstarted(row: Row, record: Record) -> bool:
    """Return whether the job failed at once and its script left no record.

    Happens when its number still runs on the node, for a job that the controller lost.
    """
    is_brief = row.started > 0 and row.ended - row.started <= _BRIEF
    return (
        not record.started
        and row.state == "FAILED"
        and row.exit == "1:0"
        and is_brief
        and not row.is_asked_to_end
    )


def left(key: str, record: Record, now: float) -> Row | None:
    """Return the end that the job recorded, if the controller no longer knows it."""
    if record.code is None or not record.id.isdigit():
        return None
    is_forgotten = record.is_cut_off and now - record.ended < _FRESH
    state = "COMPLETED" if record.code == 0 else FORGOTTEN if is_forgotten else "FAILED"
    return Row(int(record.id), state, key, exit=f"{record.code}:0")


def is_over(native: str) -> bool:
    """Return whether no part of the job will run again."""
    return native in _ENDS or native in _BY_EXIT


def live(row: Row, record: Record) -> Observation | None:
    """Observe an unfinished job; None for an unknown state, which is never guessed."""
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
    waiting = None
    if record.fetching and state == State.RUNNING:
        state = State.STARTING
        text = Message("Fetching {inputs} to the node.", inputs=record.fetching)
        waiting = PendingReason(Wait.INPUTS, "fetching", text)
    return Observation(
        row.key,
        state,
        row.state,
        str(row.id),
        started_at=_time(record.started or row.started),
        waiting=waiting,
        **_where(row, record),
    )


def ended(row: Row, record: Record, evidence: Evidence, now: float | None = None) -> Observation:
    """Observe an ended job: from its own record if there is one, else from Slurm.

    `now` is in Unix seconds, by default this machine's time. A record never ends in the future: if
    it says so, the cluster's clock is ahead.
    """
    now = time.time() if now is None else now
    ahead = max(0.0, (record.ended or 0) - now)
    started = record.started or _started(row)
    code, number = _exit(row, record)
    row = _with_memory(row, number, evidence)
    verdict = _with_lost(_verdict(row, record, evidence, code, number), record)
    if verdict.reason == Reason.CANCELED and not record.started:
        code = number = None
    is_ours = code == NO_ROOM and record.code is None
    if (code == 0 and verdict.reason != Reason.COMPLETED) or is_ours:
        code = None  # it stopped when it was told to, or never ran: that is no result
    return Observation(
        row.key,
        verdict.reason.final_state,
        row.state,
        str(row.id),
        reason=verdict.reason,
        exit_code=code,
        signal=number,
        evidence=verdict.evidence,
        started_at=_time(started and started - ahead),
        finished_at=_time(_finished(row, record, now)),
        peak_memory=row.peak or None,
        **_where(row, record),
    )


def _with_lost(verdict: EndReason, record: Record) -> EndReason:
    """Add what the disk did not take.

    It explains success and failure alike: neither the output nor the files are what they would be.
    """
    if (text := lost_output.told(record.lost)) is None:
        return verdict
    if verdict.reason in _FULL_DISK:
        return EndReason(Reason.DISK_FULL, Message.joined(" ", (text, verdict.evidence)))
    return replace(verdict, evidence=Message.joined(" ", (verdict.evidence, text)))


def _with_memory(row: Row, number: int | None, evidence: Evidence) -> Row:
    """Detect out-of-memory kills that Slurm reports only in text.

    Happens without cgroups, and for jobs known only from their own record.
    """
    output = _OVER_MEMORY.findall(evidence.output + evidence.tail) if number == SIGKILL else []
    if not output and not (row.state == FORGOTTEN and _OOM.search(evidence.output)):
        return row
    return replace(
        row, state="OUT_OF_MEMORY", peak=max([row.peak, *(int(peak) for peak, _ in output)])
    )


def _verdict(
    row: Row, record: Record, evidence: Evidence, code: int | None, number: int | None
) -> EndReason:
    if is_of_another(row, record) and not row.is_asked_to_end:
        return EndReason(
            Reason.LOST_BY_SCHEDULER,
            Message(
                "Slurm forgot its job {id} when its controller was started again, and ended "
                "what ran of it.",
                id=record.id,
            ),
        )
    # its number was reused
    if (
        is_unlaunched(row)
        and (record.code is None or record.is_cut_off)
        and not row.is_asked_to_end
    ):
        return EndReason(
            Reason.LOST_BY_SCHEDULER,
            Message("A node refused to start it, and Slurm put it on hold."),
        )
    is_own = has_own_end(record, evidence)
    # by us, after Slurm requeued it
    is_taken_back = (
        row.state == "CANCELLED" and record.started and _WHY_BACK.search(evidence.output)
    )
    if (is_requeued(row, record) or is_taken_back) and not row.is_asked_to_end and not is_own:
        return _put_back(evidence.output)
    if row.state == "OUT_OF_MEMORY":
        return _over_memory(row, record, evidence)
    # Slurm sends SIGTERM first, too, so it proves nothing
    if row.state in _ENDS and record.asked != "time" and not is_own:
        if row.is_asked_to_end:
            return EndReason(Reason.CANCELED, "")
        reason, words = _ENDS[row.state]
        return EndReason(reason, _canceled(row) if row.state == "CANCELLED" else words)
    is_full = evidence.is_full or (code == NO_ROOM and record.code is None)
    if is_full and row.state == "FAILED" and record.code is None and not row.is_asked_to_end:
        return _no_room(evidence)
    if not record.started and row.state == "FAILED" and not row.is_asked_to_end:
        is_silent = is_unstarted(row, record) and not evidence.output.strip()
        return EndReason(
            Reason.LOST_BY_SCHEDULER if is_silent else Reason.PLATFORM_ERROR,
            _unstarted(number, evidence),
        )
    if record.code and not record.asked:
        tail = evidence.tail
        if trouble := image_trouble(record.code, tail) or input_failure(record.code, tail):
            return trouble
    stop_reason = record.asked or ("cancel" if row.is_asked_to_end and record.code is None else "")
    tail = evidence.tail if record.rank is None else _SRUN.split(evidence.tail, maxsplit=1)[0]
    verdict = classify(
        ProcessEnd(
            code, number, tail or evidence.output, stop_reason, time_limit=record.limit or None
        )
    )
    return (
        verdict
        if record.rank is None
        else replace(
            verdict, evidence=Message.joined(": ", (f"Rank {record.rank}", verdict.evidence))
        )
    )


def _canceled(row: Row) -> Message:
    """Say by whom a job was canceled that we did not cancel."""
    if row.canceled_by:
        return Message("Canceled in Slurm by {user}, not by Muster.", user=row.canceled_by)
    return Message("Canceled in Slurm, not by Muster. Slurm does not say by whom.")


def _put_back(output: str) -> EndReason:
    """Return why the job was requeued, from Slurm's last message on its node."""
    why = (_WHY_BACK.findall(output) or [""])[-1]
    reason, words = _PUT_BACK.get(
        why,
        (
            Reason.NODE_FAILED,
            Message("Slurm requeued it: one of its nodes failed or was needed for another job."),
        ),
    )
    return EndReason(reason, words)


def _no_room(evidence: Evidence) -> EndReason:
    """Explain a job whose script or end could not be written."""
    said = [line for line in evidence.output.splitlines() if line.startswith("muster: ")]
    text = Message(
        "The cluster's disk was full: the job's files could not be written to the spool."
    )
    last = said[-1].removeprefix("muster: ")[:400] if said else ""
    return EndReason(Reason.DISK_FULL, Message.joined(" ", (text, last)))


def _unstarted(number: int | None, evidence: Evidence) -> str:
    """Explain a job that never started: Slurm's 53 means that the node could not open its files."""
    why = (
        Message("A node could not write to the spool.")
        if number == _NO_FILES
        else Message("A node did not start its script.")
    )
    last = (evidence.output.strip().splitlines() or [""])[-1]
    return Message.joined(" ", (why, last[:400]))


def _over_memory(row: Row, record: Record, evidence: Evidence) -> EndReason:
    if row.peak and record.memory:
        return classify(
            ProcessEnd(None, 9, peak=row.peak, limit=record.memory, is_over_memory=True)
        )
    over = Message("It went over its memory and was stopped.")
    if record.memory:
        limit = record.memory >> 20
        over = Message("It went over its memory of {limit} MiB and was stopped.", limit=limit)
    output = next(
        (
            line.strip()
            for line in reversed(evidence.output.splitlines())
            if "oom" in line.lower() or "memory" in line.lower()
        ),
        "",
    )
    return EndReason(
        Reason.OUT_OF_MEMORY,
        Message.joined(" ", (over, output[:400])),
    )


def _exit(row: Row, record: Record) -> tuple[int | None, int | None]:
    """Return exit code and signal; a shell reports a signal as 128 plus its number."""
    if record.code is not None:
        return record.code, record.code - 128 if 128 < record.code < 193 else None
    if row.state == "COMPLETED":
        return 0, None
    if is_requeued(row, record):  # Slurm now reports a run that never happened
        return None, None
    code, _, number = row.exit.partition(":")
    if not code.isdigit():
        return None, None
    signal = int(number) if number.isdigit() and int(number) else None
    return (None if signal else int(code)), signal or (
        int(code) - 128 if 128 < int(code) < 193 else None
    )


def _finished(row: Row, record: Record, now: float) -> float:
    """Return when the job ended: by its own record, by Slurm, or else now.

    The end of a job that is not over for Slurm (put back, being cleaned up) is a projection: the
    time limit. An end is never in the future.
    """
    if record.ended:
        return min(record.ended, now)
    return row.ended if is_over(row.state) and 0 < row.ended <= now else now


def _started(row: Row) -> float:
    """Return the start time.

    For a job canceled before its start, Slurm reports the end as the start.
    """
    return 0 if row.state == "CANCELLED" and not row.nodes else row.started


def _time(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _where(row: Row, record: Record) -> dict[str, Any]:
    """Return the first node, where the script ran, and all nodes if there are several."""
    names = expand(row.nodes)
    node = record.node or next(iter(names), "")
    if node in names:
        names = (node, *(name for name in names if name != node))
    return {"node": node, "nodes": names if len(names) > 1 else ()}
