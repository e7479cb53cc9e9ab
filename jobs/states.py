"""States of jobs, and of runs, which have the same."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

JOB = States(
    "job",
    "State of a job.",
    (
        State(
            "queued",
            Message("queued", context="state"),
            Mark.HOLLOW,
            Message("Waits until a cluster has room; its page says for what."),
        ),
        State(
            "dispatching",
            Message("dispatching", context="state"),
            Mark.HALF,
            Message("Muster is giving it to the cluster."),
            is_active=True,
        ),
        State(
            "submitted",
            Message("submitted", context="state"),
            Mark.HALF,
            Message("The cluster has it, and it waits there."),
            is_active=True,
        ),
        State(
            "starting",
            Message("starting", context="state"),
            Mark.HALF,
            Message("Its nodes are chosen; image and data are prepared."),
            is_active=True,
        ),
        State(
            "running",
            Message("running", context="state"),
            Mark.PULSE,
            Message("Its command is running."),
            is_active=True,
        ),
        State(
            "stopping",
            Message("stopping", context="state"),
            Mark.SQUARE,
            Message("It was asked to stop, and is saving what it has."),
            is_active=True,
        ),
        State(
            "succeeded",
            Message("succeeded", context="state"),
            Mark.CHECK,
            Message("Its command ended with exit code 0."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("It ended without success; its page says why."),
            is_final=True,
        ),
        State(
            "canceled",
            Message("canceled", context="state"),
            Mark.BAR,
            Message("Somebody stopped it, or a job that it needs did not succeed."),
            is_final=True,
        ),
        State(
            "unknown",
            Message("unknown", context="state"),
            Mark.DASHED,
            Message("The cluster has not answered for a while."),
        ),
    ),
)
STATES = (JOB,)
