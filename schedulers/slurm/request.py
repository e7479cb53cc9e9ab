"""What is asked of Slurm for one attempt, before it is words of a command line or a body of JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedulers.contract import Launch, Rejected
from schedulers.slurm.images import NONE, Images, check_image
from schedulers.slurm.sbatch_options import Chosen, choose, combined

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}")
_SLACK = 60.0  # seconds that Slurm's own limit lies behind ours, which is exact


@dataclass(frozen=True)
class Site:
    """What holds for every job of this cluster; `spool` is the shared directory as the nodes see it."""

    spool: str
    user: str = ""
    users: tuple[str, ...] = ()
    account: str = ""
    qos: str = ""
    partition: str = ""
    reservation: str = ""
    constraint: str = ""
    may_choose: frozenset[str] = frozenset()
    images: Images = NONE


@dataclass(frozen=True)
class Tasks:
    """What a plain `srun` in the script starts: how many, on each node (0: as they fit), with so many cores and GPUs each. The GPUs are
    asked for by node all the same: 22.05 gives a task none where `--gpus-per-task` names their type."""

    count: int
    per_node: int
    cpus: int
    gpus: int = 0


@dataclass(frozen=True)
class Request:
    """Memory in MiB for each node (None: what the site gives), time in minutes (None: what the partition gives)."""

    key: str
    comment: str
    output: str
    spool: str
    nodes: int
    cpus: int
    memory: int | None
    gres: str
    minutes: int | None
    account: str = ""
    qos: str = ""
    partition: str = ""
    reservation: str = ""
    constraint: str = ""
    licenses: str = ""
    is_exclusive: bool = False
    tasks: Tasks | None = None
    user: str = ""  # another than the cluster's


def chosen(launch: Launch, site: Site) -> Chosen:
    """What counts of the job's own options here: what came with the team's grant stands in any case."""
    given = {
        name: value
        for name, value in (("account", launch.identity.account), ("qos", launch.identity.qos))
        if value
    }
    fixed = {"account": site.account, "qos": site.qos, "reservation": site.reservation, **given}
    return choose(launch.native, fixed, site.may_choose, given)


def build_request(launch: Launch, site: Site) -> Request:
    """Raises Rejected for what Slurm here cannot do."""
    check_image(launch, site.images)
    minutes = (
        math.ceil((launch.time_limit + launch.grace + _SLACK) / 60) if launch.time_limit else None
    )
    own = chosen(launch, site).values
    return Request(
        key=launch.key,
        comment=comment_of(launch.name),
        output=f"{site.spool}/{launch.key}.slurm",
        spool=site.spool,
        nodes=launch.num_nodes,
        cpus=max(math.ceil(launch.cpus), 1),
        memory=math.ceil(launch.memory / (1 << 20)) if launch.memory else None,
        gres=_gres(launch),
        minutes=minutes,
        account=_own(own, "account", launch.identity.account or site.account),
        qos=_own(own, "qos", launch.identity.qos or site.qos),
        partition=_word(launch.partition or site.partition, "partition"),
        reservation=_own(own, "reservation", site.reservation),
        licenses=own.get("licenses", ""),
        is_exclusive=bool(own.get("exclusive")),
        constraint=combined(
            _constraint(launch.node_labels, site.constraint), own.get("constraint", "")
        ),
        tasks=tasks_of(launch),
        user=_user(launch.identity.user, site),
    )


def _user(user: str, site: Site) -> str:
    if user in ("", site.user):
        return ""
    if user not in site.users:
        raise Rejected(
            f"{user[:64]!r} is none of the users that jobs of this cluster may run as: the operator lists them there.",
            "user",
        )
    return user


def _own(own: Mapping[str, Any], name: str, always: str) -> str:
    return _word(str(own.get(name) or always), f"slurm.{name}")


def tasks_of(launch: Launch) -> Tasks | None:
    """As in a batch script: only where the script runs once. A node's cores are those of its tasks."""
    count, per_node = launch.native.get("tasks", 0), launch.native.get("tasks_per_node", 0)
    if not count or (launch.num_nodes > 1 and not launch.is_on_first_node_only):
        return None
    on_one = per_node or math.ceil(count / launch.num_nodes)
    each = launch.native.get("gpus_per_task", 0)
    return Tasks(
        count,
        per_node,
        max(math.ceil(launch.cpus / on_one), 1),
        each if each * on_one == launch.gpus else 0,
    )


def comment_of(name: str) -> str:
    """A person's name for the job, as one line of printable text: Slurm's own tables break at anything else."""
    return "".join(c if c.isprintable() else " " for c in name).strip()[:200]


def _gres(launch: Launch) -> str:
    if not launch.gpus:
        return ""
    kind = _word(launch.gpu_type.lower().removeprefix("mig-"), "gpu_type")
    return f"gpu:{kind}:{launch.gpus}" if kind else f"gpu:{launch.gpus}"


def _constraint(labels: Mapping[str, str], always: str) -> str:
    """Features of nodes, all of them; a label's value is the feature, its name where it has no value."""
    return "&".join(
        [
            *([always] if always else []),
            *(_word(value or name, "node_labels") for name, value in sorted(labels.items())),
        ]
    )


def _word(text: str, field: str) -> str:
    """One word that no parser of Slurm's takes apart."""
    if text and not _WORD.fullmatch(text):
        raise Rejected(f"{text[:80]!r} cannot be a name in Slurm.", field)
    return text
