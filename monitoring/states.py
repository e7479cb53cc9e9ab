"""States of GPUs and of telemetry sources."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

GPU = States(
    "gpu",
    "State of a GPU.",
    (
        State(
            "ready",
            Message("ready", context="state"),
            Mark.CHECK,
            Message("Its node takes jobs."),
            is_active=True,
        ),
        State(
            "drained",
            Message("drained", context="state"),
            Mark.BAR,
            Message("Its node was taken out of service."),
        ),
        State(
            "down",
            Message("down", context="state"),
            Mark.CROSS,
            Message("Its node does not work, or its cluster does not answer."),
        ),
        State(
            "lost",
            Message("not responding", context="state"),
            Mark.CROSS,
            Message("The driver no longer finds it."),
        ),
    ),
)
SOURCE = States(
    "source",
    "State of a telemetry source.",
    (
        State(
            "reading",
            Message("reading", context="state"),
            Mark.CHECK,
            Message("The last read succeeded."),
            is_active=True,
        ),
        State(
            "waiting",
            Message("not read yet", context="state"),
            Mark.HOLLOW,
            Message("It is read within a minute."),
        ),
        State(
            "failing",
            Message("failing", context="state"),
            Mark.CROSS,
            Message("The last read failed; Muster tries again."),
        ),
        State(
            "disabled", Message("disabled", context="state"), Mark.BAR, Message("It is not read.")
        ),
    ),
)
STATES = (
    GPU,
    SOURCE,
)
