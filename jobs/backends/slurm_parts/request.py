"""What is asked of Slurm for one attempt, before it is words of a command line or a body of JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from jobs.backends.base import Launch, Rejected

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}")
_SLACK = 60.0                    # seconds that Slurm's own limit lies behind ours, which is exact


@dataclass(frozen=True)
class Site:
    """What holds for every job of this cluster; `spool` is the shared directory as the nodes see it."""

    spool: str
    user: str = ""
    account: str = ""
    qos: str = ""
    partition: str = ""
    reservation: str = ""
    constraint: str = ""


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


def build_request(launch: Launch, site: Site) -> Request:
    """Raises Rejected for what Slurm here cannot do."""
    if launch.image:
        raise Rejected("This Slurm runs no images: leave `image` out, or start the container in your script.", "image")
    minutes = math.ceil((launch.time_limit + launch.grace + _SLACK) / 60) if launch.time_limit else None
    return Request(
        key=launch.key, comment=comment_of(launch.name), output=f"{site.spool}/{launch.key}.slurm", spool=site.spool,
        nodes=launch.num_nodes, cpus=max(math.ceil(launch.cpus), 1), memory=math.ceil(launch.memory / (1 << 20)) if launch.memory else None,
        gres=_gres(launch), minutes=minutes, account=site.account, qos=site.qos, partition=_word(launch.partition or site.partition, "partition"),
        reservation=site.reservation, constraint=_constraint(launch.node_labels, site.constraint))


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
    return "&".join([*([always] if always else []), *(_word(value or name, "node_labels") for name, value in sorted(labels.items()))])


def _word(text: str, field: str) -> str:
    """One word that no parser of Slurm's takes apart."""
    if text and not _WORD.fullmatch(text):
        raise Rejected(f"{text[:80]!r} cannot be a name in Slurm.", field)
    return text
