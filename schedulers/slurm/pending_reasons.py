"""Translate Slurm's pending reasons into a sentence and advice.

Pure; the first matching pattern wins.
"""

from __future__ import annotations

import re
from functools import lru_cache

from schedulers.contract import Waiting
from schedulers.slurm.rows import Row
from schedulers.states import Wait

_COUNTED = {
    "gres": "GPUs",
    "gresgpu": "GPUs",
    "gresrunminutes": "GPU minutes",
    "gresminutes": "GPU minutes",
    "cpu": "cores",
    "node": "nodes",
    "mem": "memory",
    "memory": "memory",
    "jobs": "jobs",
    "job": "jobs",
    "submitjobs": "jobs in the queue",
    "submit": "jobs in the queue",
    "cpuminutes": "core minutes",
    "cpurunminutes": "core minutes",
    "billing": "billing units",
    "wall": "hours",
    "wallduration": "hours",
}
_LIMIT = re.compile(
    r"(Assoc|QOS)(Grp|Max)(.*?)(Limit|PerUser|PerAccount|PerUserLimit|PerAccountLimit|PerJob|PerJobLimit|PerNode|PerNodeLimit)?$"
)
# (pattern, wait, sentence, advice) with {account}, {qos}, {partition} and {what}
_TABLE: tuple[tuple[str, Wait, str, str], ...] = (
    (r"None|", Wait.EVALUATING, "Slurm has not looked at it yet.", ""),
    (
        r"Priority",
        Wait.BEHIND,
        "Jobs of higher priority stand before it in partition {partition}.",
        "It starts when they have; nothing is wrong with it.",
    ),
    (
        r"Resources",
        Wait.CAPACITY,
        "It is next in partition {partition}, and what it asks for is not free yet.",
        "It starts when running jobs end; asking for less may start it sooner.",
    ),
    (r"Dependency", Wait.DEPENDENCY, "It waits for another job of Slurm's.", ""),
    (
        r"DependencyNeverSatisfied",
        Wait.IMPOSSIBLE,
        "The job it waits for ended in a way that it does not accept.",
        "Cancel it and submit it again.",
    ),
    (
        r"JobHeldUser",
        Wait.CLUSTER_HELD,
        "It is held in Slurm by its owner.",
        "`scontrol release` lets it go.",
    ),
    (
        r"JobHeldAdmin|job.?requeued.?in.?held.?state|JobHoldMaxRequeue",
        Wait.CLUSTER_HELD,
        "It is held in Slurm by an administrator.",
        "Ask the operator of the cluster.",
    ),
    (r"BeginTime", Wait.CLUSTER_HELD, "Slurm starts it at a later time.", ""),
    (r"Licenses", Wait.CAPACITY, "The licenses it asks for are all in use.", ""),
    (
        r"ReqNodeNotAvail.*|Nodes_required_for_job_are_DOWN.*|NodeDown",
        Wait.NODES_DOWN,
        "Nodes that it needs are down, drained or reserved.",
        "Ask the operator when they come back, or choose another pool.",
    ),
    (
        r"PartitionDown|PartitionInactive",
        Wait.NODES_DOWN,
        "Partition {partition} is closed.",
        "Ask the operator, or choose another pool.",
    ),
    (
        r"PartitionNodeLimit|PartitionTimeLimit",
        Wait.IMPOSSIBLE,
        "It asks for more nodes or time than partition {partition} gives.",
        "Ask for less, or choose another pool.",
    ),
    (
        r"BadConstraints|InvalidAccount|InvalidQOS|AccountNotAllowed|QOSNotAllowed|AccountingPolicy|JobSizeLimit.*|OutOfMemory",
        Wait.IMPOSSIBLE,
        "Slurm cannot start it as it stands.",
        "Change what it asks for and submit it again.",
    ),
    (
        r"Reservation.*",
        Wait.RESERVED,
        "The reservation it asks for is not open.",
        "Ask the operator when it opens.",
    ),
    (
        r"Prolog|FrontEndDown|Cleaning|NonZeroExitCode|RaisedSignal|SystemFailure|NodeDown",
        Wait.NODES_DOWN,
        "Its nodes are not ready for it yet.",
        "",
    ),
    (r"JobArrayTaskLimit", Wait.ARRAY_LIMIT, "As many of its tasks run as may at once.", ""),
    (
        r"FedJobLock|BurstBuffer.*",
        Wait.CAPACITY,
        "Something else of the cluster has to be ready first.",
        "",
    ),
)


def waiting(row: Row) -> Waiting:
    """Translate the pending reason of a job; unknown reasons are quoted."""
    return _waiting(row.reason, row.account or "?", row.qos or "?", row.partition or "?")


@lru_cache(4096)
def _waiting(reason: str, account: str, qos: str, partition: str) -> Waiting:
    said = reason.strip("()").partition(",")[0].strip()
    names = {"account": account, "qos": qos, "partition": partition}
    for pattern, wait, text, advice in _TABLE:
        if re.fullmatch(pattern, said, re.IGNORECASE):
            return Waiting(
                wait, said or "None", text.format(**names), advice.format(**names), names
            )
    return _limit(said, names) or Waiting(
        Wait.CLUSTER_LIMIT, said, f"Slurm says {said}.", "Ask the operator of the cluster.", names
    )


def _limit(said: str, names: dict[str, str]) -> Waiting | None:
    """Translate AssocGrpGRES, QOSMaxGRESPerUser, AssocGrpCPUMinutesLimit and similar."""
    match = _LIMIT.fullmatch(said)
    if not match:
        return None
    whose = f"Account {names['account']}" if match[1] == "Assoc" else f"QOS {names['qos']}"
    what = _COUNTED.get(match[3].lower(), match[3] or "resources")
    if match[2] == "Max" and (match[4] or "").startswith(("PerJob", "PerNode")):
        return Waiting(
            Wait.IMPOSSIBLE,
            said,
            f"{whose} allows one job fewer {what} than it asks for.",
            "Ask for less.",
            names,
        )
    scope = (
        "one person's jobs may"
        if (match[4] or "").startswith("PerUser") or match[2] == "Max"
        else "all of its jobs together may"
    )
    return Waiting(
        Wait.CLUSTER_LIMIT,
        said,
        f"{whose} is at its limit of {what}: {scope} hold no more.",
        "It starts when others of them end; the operator of the cluster can raise the limit.",
        names,
    )
