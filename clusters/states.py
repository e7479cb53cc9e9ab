"""States of clusters, nodes, their health, requests for pools, and plans of partitioning."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

CLUSTER = States(
    "cluster",
    "State of a cluster.",
    (
        State(
            "connected",
            Message("connected", context="state"),
            Mark.CHECK,
            Message("It answers, and takes jobs."),
            is_active=True,
        ),
        State(
            "connecting",
            Message("connecting", context="state"),
            Mark.HOLLOW,
            Message("Muster reads its inventory for the first time."),
        ),
        State(
            "not responding",
            Message("not responding", context="state"),
            Mark.CROSS,
            Message("Muster cannot reach it. Running jobs continue there."),
        ),
        State(
            "disabled",
            Message("disabled", context="state"),
            Mark.BAR,
            Message("An operator disabled it: it takes no new jobs."),
        ),
    ),
)
NODE = States(
    "node",
    "State of a node.",
    (
        State(
            "ready",
            Message("ready", context="state"),
            Mark.CHECK,
            Message("It takes jobs."),
            is_active=True,
        ),
        State(
            "drained",
            Message("drained", context="state"),
            Mark.BAR,
            Message("It was taken out of service: its jobs end, and no new ones start."),
        ),
        State(
            "down",
            Message("down", context="state"),
            Mark.CROSS,
            Message("The scheduler says that it does not work, or its cluster does not answer."),
        ),
    ),
)
HEALTH = States(
    "health",
    "Health of a node.",
    (
        State(
            "healthy",
            Message("healthy", context="state"),
            Mark.CHECK,
            Message("No check finds anything."),
            is_active=True,
        ),
        State(
            "warning",
            Message("warning", context="state"),
            Mark.SQUARE,
            Message("A check found something; jobs still start there."),
            is_active=True,
        ),
        State(
            "draining",
            Message("draining", context="state"),
            Mark.BAR,
            Message("A rule drained it because of what a check found. It returns by itself."),
        ),
        State(
            "quarantined",
            Message("quarantined", context="state"),
            Mark.CROSS,
            Message("A rule drained it, and an operator must return it."),
        ),
    ),
)
POOL_REQUEST = States(
    "pool_request",
    "State of a request for a pool.",
    (
        State(
            "open",
            Message("open", context="state"),
            Mark.HOLLOW,
            Message("An operator has not decided yet."),
        ),
        State(
            "approved",
            Message("approved, not started", context="state"),
            Mark.HOLLOW,
            Message("Its time has not begun."),
        ),
        State(
            "active",
            Message("active", context="state"),
            Mark.CHECK,
            Message("The team has the GPUs now."),
            is_active=True,
        ),
        State(
            "declined",
            Message("declined", context="state"),
            Mark.CROSS,
            Message("An operator declined it."),
            is_final=True,
        ),
        State(
            "withdrawn",
            Message("withdrawn", context="state"),
            Mark.BAR,
            Message("Who asked took it back."),
            is_final=True,
        ),
        State(
            "expired",
            Message("expired", context="state"),
            Mark.BAR,
            Message("Nobody decided in time."),
            is_final=True,
        ),
        State(
            "ended",
            Message("ended", context="state"),
            Mark.BAR,
            Message("Its time is over, or the team returned the GPUs."),
            is_final=True,
        ),
    ),
)
RESERVATION = States(
    "reservation",
    "State of a reservation.",
    (
        State(
            "planned",
            Message("planned", context="state"),
            Mark.HOLLOW,
            Message("It begins later."),
        ),
        State(
            "pending",
            Message("pending", context="state"),
            Mark.HOLLOW,
            Message("The cluster has not confirmed it yet."),
        ),
        State(
            "active",
            Message("active", context="state"),
            Mark.CHECK,
            Message("Only jobs of this team start there."),
            is_active=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("The cluster refuses it; Muster tries again every minute."),
        ),
        State(
            "ended",
            Message("ended", context="state"),
            Mark.BAR,
            Message("Its time is over."),
            is_final=True,
        ),
    ),
)
MIG_PLAN = States(
    "mig_plan",
    "State of a plan that partitions GPUs.",
    (
        State(
            "draft",
            Message("draft", context="state"),
            Mark.HOLLOW,
            Message("Nothing was changed yet."),
        ),
        State(
            "applying",
            Message("applying", context="state"),
            Mark.PULSE,
            Message("Nodes are changed one after another."),
            is_active=True,
        ),
        State(
            "done",
            Message("done", context="state"),
            Mark.CHECK,
            Message("All nodes have the new layout."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("A node could not be changed."),
            is_final=True,
        ),
        State(
            "undone",
            Message("undone", context="state"),
            Mark.BAR,
            Message("Another plan restored the layout before."),
            is_final=True,
        ),
    ),
)
MIG_NODE = States(
    "mig_node",
    "State of a node in a plan.",
    (
        State(
            "waiting",
            Message("waiting", context="state"),
            Mark.HOLLOW,
            Message("It has not begun."),
        ),
        State(
            "draining",
            Message("draining", context="state"),
            Mark.HALF,
            Message("No new jobs start; the running ones end first."),
            is_active=True,
        ),
        State(
            "changing",
            Message("changing GPUs", context="state"),
            Mark.PULSE,
            Message("The GPUs are partitioned."),
            is_active=True,
        ),
        State(
            "configuring",
            Message("updating scheduler", context="state"),
            Mark.PULSE,
            Message("The scheduler learns of the new GPUs."),
            is_active=True,
        ),
        State(
            "resuming",
            Message("resuming", context="state"),
            Mark.PULSE,
            Message("The node returns to service."),
            is_active=True,
        ),
        State(
            "done",
            Message("done", context="state"),
            Mark.CHECK,
            Message("It has the new layout."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("It could not be changed."),
            is_final=True,
        ),
        State(
            "skipped",
            Message("skipped", context="state"),
            Mark.BAR,
            Message("It was left as it is."),
            is_final=True,
        ),
    ),
)
STATES = (
    CLUSTER,
    NODE,
    HEALTH,
    POOL_REQUEST,
    RESERVATION,
    MIG_PLAN,
    MIG_NODE,
)
