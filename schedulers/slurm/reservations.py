"""Reservations of nodes for one team: what is sent, what is listed, and refusals. Pure."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Rejected, ReservationFacts, ReservationRequest, Unavailable
from schedulers.slurm.errors import failure
from schedulers.slurm.hostlist import expand
from schedulers.slurm.rows import number_of
from schedulers.slurm.show import records

RESERVATION, PARTITION, NONE = "reservation", "partition", "none"
KINDS = (RESERVATION, PARTITION, NONE)
# Jobs that already run there do not prevent it; pending ones go on outside when it ends.
_FLAGS = "IGNORE_JOBS,NO_HOLD_JOBS_AFTER"
CLOSED = "root"  # the account of a partition that nobody may use
_UNKNOWN = "Requested reservation is invalid"


def created(request: ReservationRequest, users: str, accounts: str) -> list[str]:
    """Return the command that makes a reservation from now on. Times are UTC."""
    whose = f"Accounts={accounts}" if accounts else f"Users={users}"
    start = ["StartTime=now", whose, f"Flags={_FLAGS}"]
    return ["scontrol", "create", "reservation", *_fields(request), *start]


def changed(request: ReservationRequest, users: str, accounts: str) -> list[str]:
    """Return the command that changes nodes, team and end of a reservation."""
    whose = f"Accounts={accounts}" if accounts else f"Users={users}"
    return ["scontrol", "update", *_fields(request), whose]


def body(request: ReservationRequest, users: str, accounts: str, *, is_new: bool) -> dict[str, Any]:
    """Return the body that makes or changes a reservation over slurmrestd v0.0.43 and later."""
    whose = {"accounts": [accounts]} if accounts else {"users": users.split(",")}
    begin = {
        "start_time": _number(int(time.time())),
        # Another name than scontrol's for the second flag
        "flags": ["IGNORE_JOBS", "NO_HOLD_JOBS_AFTER_END"],
    }
    return {
        "name": request.name,
        "node_list": list(request.nodes),
        "end_time": _number(int(request.ends_at.timestamp())),
        **whose,
        **(begin if is_new else {}),
    }


def _number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def listed(rows: Iterable[Mapping[str, Any]], prefix: str) -> list[ReservationFacts]:
    """Parse `reservations` of a REST response."""
    return [
        ReservationFacts(
            str(row["name"]),
            expand(str(row.get("node_list") or "")),
            datetime.fromtimestamp(number_of(row.get("end_time")), UTC),
        )
        for row in rows
        if str(row.get("name", "")).startswith(prefix)
    ]


def _fields(request: ReservationRequest) -> list[str]:
    return [
        f"ReservationName={request.name}",
        f"Nodes={','.join(request.nodes)}",
        f"EndTime={request.ends_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}",
    ]


def parsed(text: str, prefix: str) -> list[ReservationFacts]:
    """Parse `scontrol show reservation` with times in Unix seconds."""
    return [
        ReservationFacts(
            row["ReservationName"],
            expand(row.get("Nodes", "")),
            datetime.fromtimestamp(int(row["EndTime"]), UTC),
        )
        for row in records(text, "ReservationName")
        if row["ReservationName"].startswith(prefix)
    ]


def is_unknown(error: str) -> bool:
    return _UNKNOWN in error


def refusal(error: str) -> Rejected | Unavailable:
    """Return what a refused reservation means, and what to do."""
    words = " ".join(error.split())[:300]
    if re.search(r"invalid user id|permission", words, re.IGNORECASE):
        return Rejected(
            Message(
                "Only operators of Slurm may make reservations. Give Muster's user the right "
                "(sacctmgr modify user NAME set AdminLevel=Operator), or change how pools are "
                "kept in the settings of the cluster. ({words})",
                words=words,
            )
        )
    if "overlaps" in words:
        return Rejected(
            Message(
                "Another reservation of Slurm has some of these nodes. Delete it, or return these "
                "GPUs and approve a new request. ({words})",
                words=words,
            )
        )
    if "is in use" in words:
        return Unavailable(Message("Jobs still use the reservation. ({words})", words=words))
    return failure(error)


def text_of(request: ReservationRequest, whose: str, nodes: str) -> Message:
    return Message.plural(
        len(request.nodes),
        "Reserves node {nodes} in Slurm as reservation {name} for {whose}.",
        "Reserves nodes {nodes} in Slurm as reservation {name} for {whose}.",
        nodes=nodes,
        name=request.name,
        whose=whose,
    )


def short(nodes: Sequence[str]) -> str:
    """Return a hostlist for people: "n[1-3],x7"."""
    groups: dict[tuple[str, int], list[int]] = {}
    plain = []
    for name in nodes:
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match:
            groups.setdefault((match[1], len(match[2]) if match[2][0] == "0" else 0), []).append(
                int(match[2])
            )
        else:
            plain.append(name)
    return ",".join([*(_folded(*key, sorted(found)) for key, found in groups.items()), *plain])


def _folded(stem: str, width: int, numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [
        f"{run[0]:0{width}}" if len(run) == 1 else f"{run[0]:0{width}}-{run[-1]:0{width}}"
        for run in runs
    ]
    return f"{stem}{words[0]}" if len(numbers) == 1 else f"{stem}[{','.join(words)}]"
