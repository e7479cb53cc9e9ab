"""Name and label objects.

Names can be reused, so the UID identifies an object. Labels mark the objects of this portal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Rejected

MANAGED = "app.kubernetes.io/managed-by"
MUSTER = "muster"
KEY, PORTAL, ORG, TEAM = "muster/key", "muster/portal", "muster/org", "muster/team"
CANCELED = "muster/canceled"  # annotation: canceled by Muster
LIMIT = "muster/time-limit"  # annotation: seconds
INPUTS = "muster/inputs"  # annotation: the versions of data that it reads, for people
DRAINED = "muster/drained-because"  # annotation of a node
POOL = "muster/pool"  # label and taint of a node: the reservation that it is kept for
QUOTA = "muster/reserved"  # annotation of a ClusterQueue: GPUs given to reservations, as JSON
FROM = "muster/from"  # annotation of a reservation's ClusterQueue: those of its pool, as JSON
MARKED = "muster/log-begins"  # annotation: the log begins with LOG_BEGINS (entrypoint.py)
CONTAINER = "main"
QUEUE = "kueue.x-k8s.io/queue-name"  # label of a Job: its LocalQueue
_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,50}[a-z0-9])?")


def object_name(key: str) -> str:
    """Return the name of the Job, Secret and Service of a key: the key itself.

    At most 52 characters, so that host names of pods fit. Raises Rejected for an invalid key.
    """
    if not _KEY.fullmatch(key):
        raise Rejected(Message("This is not a valid job key."))
    return key if _NAME.fullmatch(key) and not key.startswith("h-") else f"h-{_hash(key, 40)}"


def namespace_name(prefix: str, org: str, team: str) -> str:
    """Return the namespace of a team.

    Two teams never share one, whatever their slugs.
    """
    if not org and not team:
        return f"{prefix}-jobs"
    plain = "-".join(
        re.sub(r"[^a-z0-9-]", "-", part.lower()).strip("-") or "x" for part in (org, team)
    )
    is_plain = (
        re.fullmatch(r"[a-z0-9]+", org)
        and re.fullmatch(r"[a-z0-9]+", team)
        and len(prefix) + len(plain) < 63
    )
    return (
        f"{prefix}-{plain}"
        if is_plain
        else f"{prefix}-{plain[: 50 - len(prefix)].rstrip('-')}--{_hash(f'{org}/{team}', 10)}"
    )


def labels(prefix: str, name: str) -> dict[str, str]:
    """Return the labels of all objects of an attempt, including its pods."""
    return {MANAGED: MUSTER, PORTAL: prefix, KEY: name}


def _hash(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def queue_of(job: Mapping[str, Any]) -> str:
    """Return the LocalQueue of a Job; empty for none."""
    return str(job["metadata"].get("labels", {}).get(QUEUE) or "")
