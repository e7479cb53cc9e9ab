"""Map Slurm's error messages to Rejected and Unavailable. Pure."""

from __future__ import annotations

import re

from schedulers.contract import Rejected, Unavailable

# (pattern of Slurm's message, field of the spec at fault, our message)
_REJECTED: tuple[tuple[str, str, str], ...] = (
    (
        r"invalid partition|partition.*(not|does) .*exist",
        "partition",
        "This Slurm has no such partition.",
    ),
    (r"invalid account", "account", "The account may not be used here, or not in this partition."),
    (r"invalid qos", "qos", "The QOS may not be used here."),
    (
        r"invalid generic resource|gres.*specification|invalid gres",
        "resources.gpus",
        "This Slurm has no such GPUs.",
    ),
    (r"memory specification", "resources.memory", "No node has as much memory."),
    (
        r"node count specification|more processors requested|too many (nodes|cpus|tasks)|node count",
        "resources.num_nodes",
        "Slurm has not as many nodes of that size.",
    ),
    (
        r"requested node configuration is not available",
        "resources",
        "No node has all that it asks for.",
    ),
    (r"time limit", "policy.max_runtime", "The time limit is more than the partition gives."),
    (r"invalid feature", "node_labels", "No node has such a feature."),
    (
        r"invalid license|license specification",
        "slurm.licenses",
        "This Slurm has no such licenses.",
    ),
    (r"reservation", "reservation", "The reservation may not be used."),
    (
        r"job violates accounting|qos policy|limit.*policy|exceeds",
        "resources",
        "A limit of its account or QOS forbids it.",
    ),
    (r"user.*(not|in)valid|invalid user|uid", "", "Slurm does not know the user that jobs run as."),
    (r"invalid node name", "node", "Slurm has no such node."),
    (r"invalid node state", "node", "That node is in no state in which this can be done."),
    (r"unable to process key", "", "This slurmrestd does not understand a part of it."),
    (
        r"pathname.*too long|script.*(too large|exceeds)",
        "run",
        "The script is too large for Slurm.",
    ),
)
_UNAVAILABLE: tuple[tuple[str, str], ...] = (
    (
        r"unable to contact slurm controller|connection refused|connection failure|socket timed out|not responding|zero bytes were",
        "Slurm's controller does not answer.",
    ),
    (
        r"expired|authentication|protocol authentication|invalid credential|munge|rejected token|unauthori[sz]ed",
        "Slurm did not accept who we are: the token or key is wrong or has expired.",
    ),
    (
        r"permission denied \((publickey|password|keyboard)",
        "The login host did not accept the key.",
    ),
    (
        r"backup controller|standby|in recovery|temporar|try again|resource temporarily|too many jobs|queue is full|busy|slurmdbd|database",
        "Slurm cannot take it now.",
    ),
    (
        r"dns srv|configuration source|slurm\.conf",
        "Slurm is not set up on this host: say where its slurm.conf is.",
    ),
)


def failure(said: str) -> Rejected | Unavailable:
    """Return the exception for a command's output or a REST error.

    Unknown errors count as transient, so that no job is given up for them.
    """
    words = " ".join(said.split())[:500]
    for pattern, text in _UNAVAILABLE:
        if re.search(pattern, words, re.IGNORECASE):
            return Unavailable(f"{text} ({words})")
    for pattern, field, text in _REJECTED:
        if re.search(pattern, words, re.IGNORECASE):
            return Rejected(f"{text} ({words})", field)
    if re.search(r"access/permission denied|permission denied|not permitted", words, re.IGNORECASE):
        return Rejected(f"The account that Muster uses may not do that in Slurm. ({words})")
    return Unavailable(f"Slurm failed: {words or 'it said nothing'}")


def is_unknown_job(said: str) -> bool:
    """Return whether Slurm reports that the job is unknown or over."""
    over = r"invalid job id|already complet(ing|ed)|not running|(is|already) finished|job/step"
    return bool(re.search(over, said, re.IGNORECASE))
