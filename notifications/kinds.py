"""The kinds of notifications, and which of them are on unless a person says otherwise.

The defaults are quiet: in the portal what one would look for, by e-mail only what needs somebody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from portal.core.messages import Message


@dataclass(frozen=True)
class Kind:
    """A kind: its name in the API, its title, and the defaults of the portal and of e-mail.

    `for_team`: channels of teams can have it.
    """

    name: str
    title: Message
    help: Message
    in_app: bool = True
    email: bool = False
    for_team: bool = True
    operators_only: bool = False


KINDS: tuple[Kind, ...] = (
    Kind(
        "job_failed",
        Message("Job failed"),
        Message("One of your jobs failed, or somebody else canceled it."),
        email=True,
    ),
    Kind(
        "job_succeeded",
        Message("Job succeeded"),
        Message("One of your jobs that ran for at least a minute succeeded."),
    ),
    Kind(
        "job_pending",
        Message("Job pending for long"),
        Message("One of your jobs has been pending for more than an hour."),
    ),
    Kind(
        "idle_gpus",
        Message("Idle GPUs"),
        Message("A job of yours has idle GPUs, or is about to be stopped for it."),
        email=True,
    ),
    Kind(
        "approval",
        Message("Request to decide"),
        Message("Somebody asks for GPUs or a higher limit, and you may decide."),
        email=True,
        for_team=False,
    ),
    Kind(
        "decision",
        Message("Decision on your request"),
        Message("A request of yours was approved or declined."),
        email=True,
    ),
    Kind(
        "pool_ending",
        Message("Pool ending"),
        Message("GPUs that your team was granted end soon, or have ended."),
        email=True,
    ),
    Kind(
        "budget",
        Message("Budget"),
        Message("A budget has reached one of its thresholds."),
        email=True,
    ),
    Kind(
        "quota_nearly_used",
        Message("Quota nearly used"),
        Message("Storage or GPU-hours have reached 90% of their limit."),
    ),
    Kind(
        "gpu_unhealthy",
        Message("Unhealthy hardware"),
        Message("A GPU, a node or a cluster has a problem."),
        for_team=False,
        operators_only=True,
    ),
    Kind(
        "channel_disabled",
        Message("Channel disabled"),
        Message("A channel of yours failed for days and was disabled."),
        email=True,
        for_team=False,
    ),
)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
