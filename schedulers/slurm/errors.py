"""Map Slurm's error messages to Rejected and Unavailable. Pure."""

from __future__ import annotations

import re

from portal.core.messages import Message
from schedulers.contract import Rejected, Unavailable

# (pattern of Slurm's message, field of the spec at fault, our message)
_REJECTED: tuple[tuple[str, str, str], ...] = (
    (
        r"invalid partition|partition.*(not|does) .*exist",
        "partition",
        Message("This Slurm cluster has no such partition."),
    ),
    (
        r"invalid account",
        "account",
        Message("The account is not allowed on this cluster or in this partition."),
    ),
    (r"invalid qos", "qos", Message("The QOS is not allowed on this cluster.")),
    (
        r"invalid generic resource|gres.*specification|invalid gres",
        "resources.gpus",
        Message("This Slurm cluster has no such GPUs."),
    ),
    (r"memory specification", "resources.memory", Message("No node has enough memory.")),
    (
        r"node count specification|more processors requested|too many (nodes|cpus|tasks)|node count",
        "resources.num_nodes",
        Message("Slurm does not have enough nodes of that size."),
    ),
    (
        r"requested node configuration is not available",
        "resources",
        Message("No node has all requested resources."),
    ),
    (r"time limit", "policy.max_runtime", Message("The time limit exceeds that of the partition.")),
    (r"invalid feature", "node_labels", Message("No node has this feature.")),
    (
        r"invalid license|license specification",
        "slurm.licenses",
        Message("This Slurm cluster has no such licenses."),
    ),
    (r"reservation", "reservation", Message("The reservation is not available to this job.")),
    (
        r"job violates accounting|qos policy|limit.*policy|exceeds",
        "resources",
        Message("The job exceeds a limit of its account or QOS."),
    ),
    (
        r"user.*(not|in)valid|invalid user|uid",
        "",
        Message("Slurm does not know the user that jobs run as."),
    ),
    (r"invalid node name", "node", Message("Slurm has no such node.")),
    (r"invalid node state", "node", Message("The state of the node does not allow this.")),
    (
        r"unable to process key",
        "",
        Message("This version of slurmrestd does not support a part of the request."),
    ),
    (
        r"pathname.*too long|script.*(too large|exceeds)",
        "run",
        Message("The script is too large for Slurm."),
    ),
)
CREDENTIALS = "credentials"  # stands for the option that has the token or the key
_UNAVAILABLE: tuple[tuple[str, str, str], ...] = (
    (
        r"unable to contact slurm controller|connection refused|connection failure|socket timed out|not responding|zero bytes were",
        "",
        Message("Slurm's controller does not answer."),
    ),
    (
        # 22.05 only says that it cannot load the configuration if a token is wrong
        r"expired|authentication|invalid credential|munge|rejected token|unauthori[sz]ed|config is unable to load",
        CREDENTIALS,
        Message(
            "Slurm rejected Muster's credentials: the token or key is invalid or has expired. "
            "Enter one of this cluster."
        ),
    ),
    (
        r"permission denied \((publickey|password|keyboard)",
        "ssh_key",
        Message(
            "The login host rejected the key. Add its public key to authorized_keys of the SSH user."
        ),
    ),
    (
        r"backup controller|standby|in recovery|temporar|try again|resource temporarily|too many jobs|queue is full|busy|slurmdbd|database",
        "",
        Message("Slurm is temporarily unavailable."),
    ),
    (
        r"dns srv|configuration source|slurm\.conf",
        "conf",
        Message("Slurm is not configured on this host. Set the path of its slurm.conf."),
    ),
)


def failure(message: str) -> Rejected | Unavailable:
    """Return the exception for a command's output or a REST error.

    Unknown errors count as transient, so that no job is given up for them.
    """
    words = " ".join(message.split())[:500]
    for pattern, field, text in _UNAVAILABLE:
        if re.search(pattern, words, re.IGNORECASE):
            return Unavailable(f"{text} ({words})", field)
    for pattern, field, text in _REJECTED:
        if re.search(pattern, words, re.IGNORECASE):
            return Rejected(f"{text} ({words})", field)
    if re.search(r"access/permission denied|permission denied|not permitted", words, re.IGNORECASE):
        return Rejected(f"Muster's Slurm account lacks the permission. ({words})")
    return Unavailable(f"Slurm failed: {words or 'it said nothing'}")


def is_unknown_job(message: str) -> bool:
    """Return whether Slurm reports that the job is unknown or over."""
    over = r"invalid job id|already complet(ing|ed)|not running|(is|already) finished|job/step"
    return bool(re.search(over, message, re.IGNORECASE))
