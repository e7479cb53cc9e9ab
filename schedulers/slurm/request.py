"""Build a Slurm job request, independent of command line and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Launch, NodeFacts, Rejected
from schedulers.shares import MPS, SHARED, share_of, whole_type
from schedulers.slurm.images import NONE, Images, check_image
from schedulers.slurm.inputs import NONE as NO_INPUTS
from schedulers.slurm.inputs import InputSettings
from schedulers.slurm.sbatch_options import ChosenOptions, choose, combined

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}")
OURS = "muster-"  # names of reservations that the portal makes begin so
SLACK = 60.0  # seconds that Slurm's time limit exceeds ours, which is exact


@dataclass(frozen=True)
class SlurmSettings:
    """Settings for every job of a cluster.

    `spool` is the shared directory as seen by the nodes.
    """

    spool: str
    user: str = ""
    users: tuple[str, ...] = ()
    account: str = ""
    qos: str = ""
    partition: str = ""
    reservation: str = ""
    constraint: str = ""
    may_choose: frozenset[str] = frozenset()
    has_reservations: bool = True  # pools of teams are reservations, not partitions
    images: Images = NONE
    inputs: InputSettings = NO_INPUTS


@dataclass(frozen=True)
class Tasks:
    """What a plain `srun` in the script starts.

    The number of tasks, in total and per node (0: as they fit), with cores and GPUs for each. GPUs
    are requested per node nevertheless: Slurm 22.05 gives a task none if `--gpus-per-task` names
    their type.
    """

    count: int
    per_node: int
    cpus: int
    gpus: int = 0


@dataclass(frozen=True)
class Request:
    """A job request.

    Memory is in MiB per node (None: default of the site), time in minutes (None: default of the
    partition).
    """

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
    exclude: tuple[str, ...] = ()  # nodes
    licenses: str = ""
    is_exclusive: bool = False
    tasks: Tasks | None = None
    user: str = ""  # if different from the cluster's


def chosen(launch: Launch, site: SlurmSettings) -> ChosenOptions:
    """Return the effective options of a job: settings of the team's grant take precedence."""
    given = {
        name: value
        for name, value in (
            ("account", launch.identity.run_as.account),
            ("qos", launch.identity.run_as.qos),
        )
        if value
    }
    fixed = {"account": site.account, "qos": site.qos, "reservation": site.reservation, **given}
    return choose(launch.native, fixed, site.may_choose, given)


def minutes_of(limit: float, grace: float) -> int:
    """Return Slurm's time limit for one of ours in seconds."""
    return math.ceil((limit + grace + SLACK) / 60)


def build_request(launch: Launch, site: SlurmSettings) -> Request:
    """Build the request. Raises Rejected for what this cluster does not support."""
    check_image(launch, site.images)
    limit = launch.limits.time_limit
    minutes = minutes_of(limit, launch.limits.grace) if limit else None
    own = chosen(launch, site).values
    return Request(
        key=launch.key,
        comment=comment_of(launch.name),
        output=f"{site.spool}/{launch.key}.slurm",
        spool=site.spool,
        nodes=launch.place.num_nodes,
        cpus=max(math.ceil(launch.limits.cpus), 1),
        memory=math.ceil(launch.limits.memory / (1 << 20)) if launch.limits.memory else None,
        gres=_gres(launch),
        minutes=minutes,
        account=_own(own, "account", launch.identity.run_as.account or site.account),
        qos=_own(own, "qos", launch.identity.run_as.qos or site.qos),
        partition=_word(launch.place.partition or site.partition, "partition"),
        reservation=_reservation(launch, own, site),
        exclude=tuple(_word(name, "policy.retries") for name in launch.place.exclude_nodes),
        licenses=own.get("licenses", ""),
        is_exclusive=bool(own.get("exclusive")),
        constraint=combined(
            _constraint(launch.place.node_labels, site.constraint), own.get("constraint", "")
        ),
        tasks=tasks_of(launch),
        user=_user(launch.identity.run_as.user, site),
    )


def _reservation(launch: Launch, own: Mapping[str, Any], site: SlurmSettings) -> str:
    """Return the reservation: that of the team, else the job's own choice, which is no team's."""
    if str(own.get("reservation") or "").startswith(OURS):
        raise Rejected(Message("Reservations of teams are chosen by Muster."), "slurm.reservation")
    ours = launch.place.reservation if site.has_reservations else ""
    return ours or _own(own, "reservation", site.reservation)


def _user(user: str, site: SlurmSettings) -> str:
    if user in ("", site.user):
        return ""
    if user not in site.users:
        raise Rejected(
            Message(
                "{x} is not in the list of users that jobs of this cluster may run as. The "
                "operator can add it.",
                x=repr(user[:64]),
            ),
            "user",
        )
    return user


def _own(own: Mapping[str, Any], name: str, always: str) -> str:
    return _word(str(own.get(name) or always), f"slurm.{name}")


def tasks_of(launch: Launch) -> Tasks | None:
    """Return the tasks of a batch script that runs once.

    The cores of a node are those of its tasks.
    """
    count, per_node = launch.native.get("tasks", 0), launch.native.get("tasks_per_node", 0)
    if not count or (launch.place.num_nodes > 1 and not launch.place.is_on_first_node_only):
        return None
    on_one = per_node or math.ceil(count / launch.place.num_nodes)
    each = launch.native.get("gpus_per_task", 0)
    return Tasks(
        count,
        per_node,
        max(math.ceil(launch.limits.cpus / on_one), 1),
        each if each * on_one == launch.limits.gpus else 0,
    )


def comment_of(name: str) -> str:
    """Return the display name of a job as one printable line, as Slurm's tables break otherwise."""
    return "".join(c if c.isprintable() else " " for c in name).strip()[:200]


def _gres(launch: Launch) -> str:
    if not launch.limits.gpus:
        return ""
    wanted = launch.limits.gpu_type.lower()
    name = {SHARED: "shard", MPS: "mps"}.get(share_of(wanted), "gpu")
    kind = _word(whole_type(wanted).removeprefix("mig-"), "gpu_type")
    return f"{name}:{kind}:{launch.limits.gpus}" if kind else f"{name}:{launch.limits.gpus}"


def slice_names(nodes: Iterable[NodeFacts]) -> dict[str, str]:
    """Return the type in Slurm of each class of MIG slices; AutoDetect names the GPU, too."""
    gpus = [gpu for node in nodes for gpu in node.gpus if gpu.type.startswith("mig-")]
    return {gpu.type: gpu.model.removeprefix("NVIDIA ").lower() for gpu in gpus}


def _constraint(labels: Mapping[str, str], always: str) -> str:
    """Return the required node features.

    The feature of a label is its value, or its name if the value is empty.
    """
    return "&".join(
        [
            *([always] if always else []),
            *(_word(value or name, "node_labels") for name, value in sorted(labels.items())),
        ]
    )


def _word(text: str, field: str) -> str:
    """Return text that no Slurm parser splits. Raises Rejected."""
    if text and not _WORD.fullmatch(text):
        raise Rejected(Message("{x} is not a valid name in Slurm.", x=repr(text[:80])), field)
    return text
