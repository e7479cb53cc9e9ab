"""Read limits with their use from `scontrol show assoc_mgr`, for reasons that the queue cannot explain.

Pure. Minutes, run time and numbers of submitted jobs are counted by Slurm only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from portal.core.messages import Message
from schedulers.slurm.limits import SlurmLimits, holder_text
from schedulers.slurm.queue import Queued

_REASON = re.compile(
    r"(Assoc|QOS)(Grp|Max|Min)"
    r"(Cpu|CPU|GRES|Mem(?:ory)?|Node|Billing|License|Energy|BB|SubmitJobs?|Jobs?|Wall(?:Duration)?)"
    r"(Run)?(Minutes)?(NotSatisfied|PerJob|PerNode)?(?:Limit)?"
)
_TRES = {
    "cpu": ("cpu", Message("cores", context="resource, counted")),
    "gres": ("gres/", Message("GPUs", context="resource, counted")),
    "mem": ("mem", Message("MiB of memory", context="resource, counted")),
    "memory": ("mem", Message("MiB of memory", context="resource, counted")),
    "node": ("node", Message("nodes", context="resource, counted")),
    "billing": ("billing", Message("billing units", context="resource, counted")),
    "license": ("license/", Message("licenses", context="resource, counted")),
    "energy": ("energy", Message("joules", context="resource, counted")),
    "bb": ("bb/", Message("burst buffers", context="resource, counted")),
}
_MINUTES = {
    "cpu": Message("core minutes", context="resource, counted"),
    "gres": Message("GPU minutes", context="resource, counted"),
    "mem": Message("MiB minutes of memory"),
    "memory": Message("MiB minutes of memory"),
    "node": Message("node minutes", context="resource, counted"),
    "billing": Message("billing minutes", context="resource, counted"),
}
_RECORD = re.compile(
    r"^(?:ClusterName=\S* Account=(\S*) UserName=([^\s(]*)|QOS=([^\s(]*))", re.MULTILINE
)
_FIELD = re.compile(r"(?:^|\s)([A-Z]\w+)=(\S*)")
_AMOUNT = re.compile(r"(?:(?P<name>[\w/:.-]+)=)?(?P<limit>[\d.]+)(?:\((?P<use>[\d.]+)\))?")


@dataclass(frozen=True)
class UsedLimit:
    """A limit, and its use if Slurm counts it. `tres` is Slurm's name of what is limited, or ""."""

    tres: str
    limit: float
    use: float | None = None


@dataclass(frozen=True)
class LimitUsage:
    """The fields of associations (by account and user) and of QOS."""

    assocs: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    qos: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def is_counted_by_slurm(reason: str) -> bool:
    """Return whether a pending reason names a limit whose use is not in the queue."""
    return bool(_REASON.fullmatch(reason))


def parse_usage(text: str) -> LimitUsage:
    """Parse `scontrol show assoc_mgr flags=assoc,qos`."""
    assocs: dict[tuple[str, str], dict[str, str]] = {}
    qos: dict[str, dict[str, str]] = {}
    starts = list(_RECORD.finditer(text))
    for start, after in zip(starts, [*(m.start() for m in starts[1:]), len(text)], strict=True):
        body = text[start.end() : after].partition("Account Limits")[0]
        fields: dict[str, str] = {}
        for name, value in _FIELD.findall(body):
            fields.setdefault(name, value)
        if start[3] is None:
            assocs.setdefault((start[1], start[2]), fields)
        else:
            qos.setdefault(start[3], fields)
    return LimitUsage(assocs, qos)


def sentence(
    reason: str, job: Queued, limits: SlurmLimits, usage: LimitUsage | None
) -> Message | None:
    """Return the limit behind a reason in numbers; None if it is not known."""
    found = _REASON.fullmatch(reason)
    if not found or usage is None:
        return None
    name, tres, what = _field_of(found)
    known = [
        (whose, one)
        for whose, fields in _sources(found[1], job, limits, usage)
        for one in _amounts(fields.get(name, ""))
        if one.tres.startswith(tres) and (tres.endswith("/") or one.tres == tres)
    ]
    if not known:
        return None
    whose, limit = max(known, key=lambda one: (one[1].use or 0) / (one[1].limit or 1))
    return _text(name, whose, what, limit)


def _field_of(found: re.Match[str]) -> tuple[str, str, Message]:
    """Return Slurm's field, the beginning of the name in it, and what it limits in words."""
    scope, kind, run, minutes, each = found[2], found[3].lower(), found[4], found[5], found[6]
    if kind.startswith("wall"):
        return "GrpWall" if scope == "Grp" else "MaxWallPJ", "", Message("minutes of run time")
    if kind.startswith(("submit", "job")):
        name = "SubmitJobs" if kind.startswith("submit") else "Jobs"
        words = (
            Message("jobs in the queue")
            if name == "SubmitJobs"
            else Message("running jobs", context="part of a sentence")
        )
        return f"{scope}{name}", "", words
    tres, words = _TRES[kind]
    if minutes:
        words = _MINUTES.get(kind) or Message(
            "minutes of {words}", context="part of a sentence", words=words
        )
        grouped = "GrpTRESRunMins" if run else "GrpTRESMins"
        return grouped if scope == "Grp" else "MaxTRESMinsPJ", tres, words
    if scope == "Grp":
        return "GrpTRES", tres, words
    return (
        "MinTRESPJ" if scope == "Min" else f"MaxTRESP{'N' if each == 'PerNode' else 'J'}",
        tres,
        words,
    )


def _sources(
    source: str, job: Queued, limits: SlurmLimits, usage: LimitUsage
) -> Iterator[tuple[str, Mapping[str, str]]]:
    row = job.row
    if source == "QOS":
        for name in dict.fromkeys((limits.partitions.get(job.partitions[0], ""), row.qos)):
            if name in usage.qos:
                yield f"QOS {name}", usage.qos[name]
        return
    for assoc in accounts_of(job, limits):
        for user in (row.user, "") if assoc == row.account else ("",):
            if (assoc, user) in usage.assocs:
                yield holder_text(assoc, user), usage.assocs[assoc, user]


def accounts_of(job: Queued, limits: SlurmLimits) -> Sequence[str]:
    """Return the job's account and those above it."""
    return list(dict.fromkeys([job.row.account, *(one.account for one in limits.chain(job))]))


def request(jobs: Collection[Queued], limits: SlurmLimits) -> list[str]:
    """Return the command that shows the use of the limits of these jobs."""
    accounts = sorted({name for job in jobs for name in accounts_of(job, limits) if name})
    users = sorted({job.row.user for job in jobs if job.row.user})
    return [
        "scontrol",
        "show",
        "assoc_mgr",
        f"accounts={','.join(accounts)}",
        f"users={','.join(users)}",
        "flags=assoc,qos",
    ]


def _amounts(text: str) -> Iterator[UsedLimit]:
    for part in text.split(","):
        if match := _AMOUNT.fullmatch(part):
            use = float(match["use"]) if match["use"] else None
            yield UsedLimit(match["name"] or "", float(match["limit"]), use)


def _text(name: str, whose: str, what: Message, limit: UsedLimit) -> Message:
    most, use = f"{limit.limit:,.0f}", f"{limit.use or 0:,.0f}"
    if name.startswith("Min"):
        return Message(
            "{whose} requires at least {limit} {what}.", whose=whose, limit=most, what=what
        )
    if limit.use is None:
        return Message(
            "{whose} allows one job at most {limit} {what}.", whose=whose, limit=most, what=what
        )
    given = {"whose": whose, "limit": most, "use": use, "what": what}
    if name == "GrpTRESRunMins":
        return Message(
            "Running jobs of {whose} may still take {use} of {limit} {what}, and this job more than "
            "the rest.",
            **given,
        )
    if name == "GrpTRES":
        return Message(
            "{whose} is using {use} of {limit} {what}, and this job needs more than the rest.",
            **given,
        )
    if name.endswith("Jobs"):
        return Message("{whose} has {use} of {limit} {what}.", **given)
    if limit.use >= limit.limit:
        return Message("{whose} has used {use} of {limit} {what}.", **given)
    return Message(
        "{whose} has used {use} of {limit} {what}, and this job may take more than the rest.",
        **given,
    )
