"""Read the limits of Slurm's accounts and QOS, and select those that apply to a job.

Pure. Amounts are in our names and units (queue.py); "jobs" is the number of running jobs. Limits on
minutes and submissions are not included, as their usage cannot be derived from the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.core.messages import Message
from schedulers.capacity import ResourceLimit
from schedulers.slurm.queue import Queued, amounts_of, counted, kind_of

ASSOC = "Cluster,Account,User,ParentName,Partition,GrpTRES,GrpJobs,MaxTRES,MaxTRESPerNode,MaxJobs"
QOS = "Name,Flags,GrpTRES,GrpJobs,MaxTRES,MaxTRESPerNode,MaxTRESPU,MaxTRESPA,MaxJobsPU,MaxJobsPA"
Amounts = Mapping[str, int]


@dataclass(frozen=True)
class Assoc:
    """An association: an account (`user` empty) or a user in an account."""

    account: str
    user: str = ""
    parent: str = ""
    partition: str = ""
    group: Amounts = field(default_factory=dict)
    job: Amounts = field(default_factory=dict)
    node: Amounts = field(default_factory=dict)
    jobs: int | None = None


@dataclass(frozen=True)
class Qos:
    name: str
    flags: str = ""
    group: Amounts = field(default_factory=dict)
    job: Amounts = field(default_factory=dict)
    node: Amounts = field(default_factory=dict)
    user: Amounts = field(default_factory=dict)
    account: Amounts = field(default_factory=dict)


@dataclass(frozen=True)
class SlurmLimits:
    """All limits of a cluster.

    `partitions` maps each partition to its QOS.
    """

    assocs: Sequence[Assoc] = ()
    qos: Mapping[str, Qos] = field(default_factory=dict)
    partitions: Mapping[str, str] = field(default_factory=dict)

    def chain(self, job: Queued) -> list[Assoc]:
        """Return the associations of a job, from the user's up to the root."""
        row, found = job.row, []
        mine = [
            a
            for a in self.assocs
            if (a.account, a.user) == (row.account, row.user)
            and a.partition in ("", *job.partitions)
        ]
        found += sorted(mine, key=lambda a: not a.partition)[:1]
        name = row.account
        while above := next(
            (a for a in self.assocs if a.account == name and not a.user and a not in found), None
        ):
            found.append(above)
            name = above.parent
        return found

    def below(self, account: str) -> set[str]:
        """Return an account and its descendants."""
        found, fresh = set(), {account}
        while fresh:
            found |= fresh
            fresh = {a.account for a in self.assocs if not a.user and a.parent in fresh} - found
        return found


@dataclass(frozen=True)
class AppliedLimit:
    """A limit and the jobs that count towards it.

    `source` is "QOS" or "Assoc", as in Slurm's reasons.
    """

    cap: ResourceLimit
    source: str
    holders: Sequence[Queued] = ()


def assoc_lines(text: str, cluster: str) -> list[Assoc]:
    """Parse `sacctmgr -n -P show assoc format=ASSOC`."""
    rows = [line.split("|") for line in text.splitlines()]
    return [
        Assoc(
            words[1],
            words[2],
            words[3],
            words[4],
            _with_jobs(amounts_of(words[5]), words[6]),
            amounts_of(words[7]),
            amounts_of(words[8]),
            _count(words[9]),
        )
        for words in rows
        if len(words) == 10 and words[0] == cluster
    ]


def qos_lines(text: str) -> dict[str, Qos]:
    """Parse `sacctmgr -n -P show qos format=QOS`."""
    found = {}
    for words in (line.split("|") for line in text.splitlines()):
        if len(words) == 10:
            found[words[0]] = Qos(
                words[0],
                words[1],
                _with_jobs(amounts_of(words[2]), words[3]),
                amounts_of(words[4]),
                amounts_of(words[5]),
                _with_jobs(amounts_of(words[6]), words[8]),
                _with_jobs(amounts_of(words[7]), words[9]),
            )
    return found


def assoc_rows(rows: Iterable[Mapping[str, Any]]) -> list[Assoc]:
    """Parse `associations` of slurmrestd, which serves one cluster."""
    found = []
    for row in rows:
        tres, jobs = _at(row, "max", "tres"), _at(row, "max", "jobs")
        found.append(
            Assoc(
                str(row.get("account") or ""),
                str(row.get("user") or ""),
                str(row.get("parent_account") or ""),
                str(row.get("partition") or ""),
                _with_jobs(_tres(_at(tres, "total")), _at(jobs, "per", "count")),
                _tres(_at(tres, "per", "job")),
                _tres(_at(tres, "per", "node")),
                _count(_at(jobs, "active")),
            )
        )
    return found


def qos_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, Qos]:
    """Parse `qos` of slurmrestd ("QOS" until v0.0.38)."""
    found = {}
    for row in rows:
        most = _at(row, "limits", "max")
        tres, jobs = _at(most, "tres"), _at(most, "jobs", "active_jobs", "per")
        found[str(row["name"])] = Qos(
            str(row["name"]),
            ",".join(map(str, row.get("flags") or ())),
            _with_jobs(_tres(_at(tres, "total")), _at(most, "active_jobs", "count")),
            _tres(_at(tres, "per", "job")),
            _tres(_at(tres, "per", "node")),
            _with_jobs(_tres(_at(tres, "per", "user")), _at(jobs, "user")),
            _with_jobs(_tres(_at(tres, "per", "account")), _at(jobs, "account")),
        )
    return found


def partition_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Parse the QOS of `partitions` of slurmrestd.

    A string until v0.0.38 and {"assigned": …} since.
    """
    found = {str(row["name"]): row.get("qos") for row in rows}
    named = {
        name: str((_at(qos, "assigned") if isinstance(qos, Mapping) else qos) or "")
        for name, qos in found.items()
    }
    return {name: qos for name, qos in named.items() if qos}


def over(job: Queued, limits: SlurmLimits, holding: Sequence[Queued]) -> list[AppliedLimit]:
    """Return the limits that apply to a job, in the order that Slurm checks them.

    Numbers of jobs first, QOS before accounts, then amounts. `holding` are all jobs that use
    resources.
    """
    found = [*_of_qos(job, limits, holding), *_of_assocs(job, limits, holding)]
    return sorted(found, key=lambda one: one.cap.kind != "jobs")


def _of_qos(job: Queued, limits: SlurmLimits, holding: Sequence[Queued]) -> Iterator[AppliedLimit]:
    """Return the limits of QOS.

    The partition's QOS takes precedence over the job's unless the job's overrides it.
    """
    of_partition, own = limits.partitions.get(job.partitions[0], ""), job.row.qos
    names = (
        [own, of_partition]
        if "OverPartQOS" in getattr(limits.qos.get(own), "flags", "")
        else [of_partition, own]
    )
    for name in dict.fromkeys(names):
        if (qos := limits.qos.get(name)) is None:
            continue
        under = [
            other
            for other in holding
            if name in (other.row.qos, limits.partitions.get(other.row.partition))
        ]
        mine = [other for other in under if other.row.user == job.row.user]
        same = [other for other in under if other.row.account == job.row.account]
        for amounts, each, holders in (
            (qos.group, "", under),
            (qos.account, "account", same),
            (qos.user, "user", mine),
        ):
            yield from _caps(job, amounts, f"QOS {name}", each, "QOS", holders)
        for amounts, each in ((qos.job, "job"), (qos.node, "node")):
            yield from _caps(job, amounts, f"QOS {name}", each, "QOS", ())


def _of_assocs(
    job: Queued, limits: SlurmLimits, holding: Sequence[Queued]
) -> Iterator[AppliedLimit]:
    for at, assoc in enumerate(limits.chain(job)):
        names = limits.below(assoc.account)
        under = [
            other
            for other in holding
            if other.row.account in names and assoc.user in ("", other.row.user)
        ]
        whose = holder_text(assoc.account, assoc.user)
        yield from _caps(job, assoc.group, whose, "", "Assoc", under)
        # limits per job and per user are inherited by the user's own association
        if at == 0:
            if assoc.jobs is not None:
                whose = holder_text(assoc.account)
                yield from _caps(job, {"jobs": assoc.jobs}, whose, "user", "Assoc", under)
            for amounts, each in ((assoc.job, "job"), (assoc.node, "node")):
                yield from _caps(job, amounts, holder_text(assoc.account), each, "Assoc", ())


def holder_text(account: str, user: str = "") -> Message:
    """Return whose limits an association has, for people."""
    if user:
        return Message(
            "{user} in account {account}", context="text, schedulers", user=user, account=account
        )
    return Message("Account {account}", context="text, schedulers", account=account)


def _caps(
    job: Queued, amounts: Amounts, whose: str, each: str, source: str, holders: Sequence[Queued]
) -> Iterator[AppliedLimit]:
    for name, limit in amounts.items():
        kind, _, model = name.partition(".")
        if model and model != job.need.gpu_type:
            continue
        counts = [other for other in holders if not model or other.need.gpu_type == model]
        yield AppliedLimit(
            ResourceLimit(kind, limit, sum(other.amount(kind) for other in counts), whose, each),
            source,
            counts,
        )


def _with_jobs(amounts: Amounts, jobs: Any) -> dict[str, int]:
    number = _count(jobs)
    return {**amounts, **({} if number is None else {"jobs": number})}


def _tres(rows: Any) -> dict[str, int]:
    """Parse [{"type": "gres", "name": "gpu", "count": 3}]."""
    found = {}
    for row in rows if isinstance(rows, (list, tuple)) else ():
        kind = kind_of(
            f"{row.get('type')}/{row['name']}" if row.get("name") else str(row.get("type"))
        )
        if kind and (number := _count(row.get("count"))) is not None:
            found[kind] = counted(kind, number)
    return found


def _count(value: Any) -> int | None:
    """Return None for no limit: empty, null, or {"set": false}."""
    if isinstance(value, Mapping):
        return int(value["number"]) if value.get("set") and not value.get("infinite") else None
    return int(value) if str(value if value is not None else "").isdigit() else None


def _at(row: Any, *path: str) -> Any:
    for name in path:
        row = row.get(name) if isinstance(row, Mapping) else None
    return row
