"""States of GPUs and of telemetry sources."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Shape, State, States

GPU = States(
    "gpu",
    "State of a GPU.",
    (
        State(
            "ready",
            Message("ready", context="state"),
            Shape.CHECK,
            Message("Its node takes jobs."),
            is_active=True,
        ),
        State(
            "drained",
            Message("drained", context="state"),
            Shape.BAR,
            Message("Its node was taken out of service."),
        ),
        State(
            "down",
            Message("down", context="state"),
            Shape.CROSS,
            Message("Its node does not work, or its cluster does not answer."),
        ),
        State(
            "lost",
            Message("not responding", context="state"),
            Shape.CROSS,
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
            Shape.CHECK,
            Message("The last read succeeded."),
            is_active=True,
        ),
        State(
            "waiting",
            Message("not read yet", context="state"),
            Shape.HOLLOW,
            Message("It is read within a minute."),
        ),
        State(
            "failing",
            Message("failing", context="state"),
            Shape.CROSS,
            Message("The last read failed; Muster tries again."),
        ),
        State(
            "disabled", Message("disabled", context="state"), Shape.BAR, Message("It is not read.")
        ),
    ),
)
STATES = (
    GPU,
    SOURCE,
)
