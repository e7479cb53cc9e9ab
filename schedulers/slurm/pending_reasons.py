"""Translate Slurm's pending reasons into a sentence and advice.

Pure; the first matching pattern wins.
"""

from __future__ import annotations

import re
from functools import lru_cache

from portal.core.messages import Message
from schedulers.contract import PendingReason
from schedulers.slurm.limits import holder_text
from schedulers.slurm.rows import Row
from schedulers.states import Wait

_COUNTED = {
    "gres": Message("GPUs", context="resource, counted"),
    "gresgpu": Message("GPUs", context="resource, counted"),
    "gresrunminutes": Message("GPU minutes", context="resource, counted"),
    "gresminutes": Message("GPU minutes", context="resource, counted"),
    "cpu": Message("cores", context="resource, counted"),
    "node": Message("nodes", context="resource, counted"),
    "mem": Message("memory", context="resource, counted"),
    "memory": Message("memory", context="resource, counted"),
    "jobs": Message("jobs", context="resource, counted"),
    "job": Message("jobs", context="resource, counted"),
    "submitjobs": Message("jobs in the queue"),
    "submit": Message("jobs in the queue"),
    "cpuminutes": Message("core minutes", context="resource, counted"),
    "cpurunminutes": Message("core minutes", context="resource, counted"),
    "billing": Message("billing units", context="resource, counted"),
    "wall": Message("hours", context="resource, counted"),
    "wallduration": Message("hours", context="resource, counted"),
}
_LIMIT = re.compile(
    r"(Assoc|QOS)(Grp|Max)(.*?)(Limit|PerUser|PerAccount|PerUserLimit|PerAccountLimit|PerJob|PerJobLimit|PerNode|PerNodeLimit)?$"
)
# (pattern, wait, sentence, advice) with {account}, {qos}, {partition} and {what}
_TABLE: tuple[tuple[str, Wait, str, str], ...] = (
    (r"None|", Wait.EVALUATING, Message("Slurm has not evaluated the job yet."), ""),
    (
        r"Priority",
        Wait.BEHIND,
        Message("Jobs of higher priority are ahead of it in partition {partition}."),
        Message("It starts after them. No action is needed."),
    ),
    (
        r"Resources",
        Wait.CAPACITY,
        Message("It is next in partition {partition}, and what it asks for is not free yet."),
        Message("It starts when running jobs end; asking for less may start it sooner."),
    ),
    (r"Dependency", Wait.DEPENDENCY, Message("It depends on another Slurm job."), ""),
    (
        r"DependencyNeverSatisfied",
        Wait.IMPOSSIBLE,
        Message("The job that it depends on did not end as required."),
        Message("Cancel it and submit it again."),
    ),
    (
        r"JobHeldUser",
        Wait.CLUSTER_HELD,
        Message("It is held in Slurm by its owner."),
        Message("Release it with `scontrol release`."),
    ),
    (
        r"JobHeldAdmin|job_?requeued_?in_?held_?state|launch_failed_requeued_held|JobHoldMaxRequeue",
        Wait.CLUSTER_HELD,
        Message("It is held in Slurm by an administrator."),
        Message("Ask the operator of the cluster."),
    ),
    (r"BeginTime", Wait.CLUSTER_HELD, Message("It is scheduled to start later."), ""),
    (r"Licenses", Wait.CAPACITY, Message("The licenses it needs are all in use."), ""),
    (
        r"May_be_reserved",
        Wait.RESERVED,
        Message("The nodes that it needs are reserved for others."),
        Message("It starts when the reservation ends, or sooner in another pool."),
    ),
    (
        r"ReqNodeNotAvail.*|Nodes_required_for_job_are_DOWN.*|NodeDown",
        Wait.NODES_DOWN,
        Message("Nodes that it needs are down, drained or reserved."),
        Message("Ask the operator when they come back, or choose another pool."),
    ),
    (
        r"PartitionDown|PartitionInactive",
        Wait.NODES_DOWN,
        Message("Partition {partition} is closed."),
        Message("Ask the operator, or choose another pool."),
    ),
    (
        r"PartitionNodeLimit|PartitionTimeLimit",
        Wait.IMPOSSIBLE,
        Message("It asks for more nodes or time than partition {partition} gives."),
        Message("Ask for less, or choose another pool."),
    ),
    (
        r"BadConstraints|InvalidAccount|InvalidQOS|AccountNotAllowed|QOSNotAllowed|AccountingPolicy|JobSizeLimit.*|OutOfMemory",
        Wait.IMPOSSIBLE,
        Message("Slurm cannot start the job with these settings."),
        Message("Change the request and submit the job again."),
    ),
    (
        r"Reservation.*",
        Wait.RESERVED,
        Message("Its reservation is not active."),
        Message("Ask the operator when it starts."),
    ),
    (
        r"Prolog|FrontEndDown|Cleaning|NonZeroExitCode|RaisedSignal|SystemFailure|NodeDown",
        Wait.NODES_DOWN,
        Message("Its nodes are not ready yet."),
        "",
    ),
    (
        r"JobArrayTaskLimit",
        Wait.ARRAY_LIMIT,
        Message("The maximum number of its tasks is running."),
        "",
    ),
    (
        r"FedJobLock|BurstBuffer.*",
        Wait.CAPACITY,
        Message("Another part of the cluster is not ready yet."),
        "",
    ),
)


def waiting(row: Row) -> PendingReason:
    """Translate the pending reason of a job; unknown reasons are quoted."""
    return _waiting(row.reason, row.account or "?", row.qos or "?", row.partition or "?")


@lru_cache(4096)
def _waiting(reason: str, account: str, qos: str, partition: str) -> PendingReason:
    native_reason = reason.strip("()").partition(",")[0].strip()
    names = {"account": account, "qos": qos, "partition": partition}
    is_reserved = re.search(r"may.be.reserved", reason, re.IGNORECASE)
    # Slurm prints sentences with spaces or with underscores, by version and command
    known = "May_be_reserved" if is_reserved else re.sub(r"\s+", "_", native_reason)
    for pattern, wait, text, advice in _TABLE:
        if re.fullmatch(pattern, known, re.IGNORECASE):
            return PendingReason(
                wait, native_reason or "None", text.format(**names), advice.format(**names), names
            )
    return _limit(native_reason, names) or PendingReason(
        Wait.CLUSTER_LIMIT,
        native_reason,
        Message("Slurm says {said}.", said=native_reason),
        Message("Ask the operator of the cluster."),
        names,
    )


def _limit(native_reason: str, names: dict[str, str]) -> PendingReason | None:
    """Translate AssocGrpGRES, QOSMaxGRESPerUser, AssocGrpCPUMinutesLimit and similar."""
    match = _LIMIT.fullmatch(native_reason)
    if not match:
        return None
    whose = holder_text(names["account"]) if match[1] == "Assoc" else f"QOS {names['qos']}"
    what = _COUNTED.get(
        match[3].lower(), match[3] or Message("resources", context="part of a sentence")
    )
    if match[2] == "Max" and (match[4] or "").startswith(("PerJob", "PerNode")):
        return PendingReason(
            Wait.IMPOSSIBLE,
            native_reason,
            Message(
                "{whose} allows one job fewer {what} than it asks for.", whose=whose, what=what
            ),
            Message("Ask for less."),
            names,
        )
    scope = (
        Message("one person's jobs may")
        if (match[4] or "").startswith("PerUser") or match[2] == "Max"
        else Message("all of its jobs together may")
    )
    return PendingReason(
        Wait.CLUSTER_LIMIT,
        native_reason,
        Message(
            "{whose} is at its limit of {what}: {scope} hold no more.",
            whose=whose,
            what=what,
            scope=scope,
        ),
        Message(
            "It starts when others of them end; the operator of the cluster can raise the limit."
        ),
        names,
    )
