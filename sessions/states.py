"""States of sessions, which follow from those of their last job."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

SESSION = States(
    "session",
    "State of a session.",
    (
        State(
            "queued",
            Message("queued", context="state of a session"),
            Mark.HOLLOW,
            Message("Waits until a cluster has room; its page says for what."),
        ),
        State(
            "starting",
            Message("starting", context="state of a session"),
            Mark.HALF,
            Message("Image and data are prepared, and the app starts."),
            is_active=True,
        ),
        State(
            "ready",
            Message("ready", context="state of a session"),
            Mark.PULSE,
            Message("The app answers and can be opened."),
            is_active=True,
        ),
        State(
            "stopping",
            Message("stopping", context="state of a session"),
            Mark.SQUARE,
            Message("The app was asked to stop."),
            is_active=True,
        ),
        State(
            "stopped",
            Message("stopped", context="state of a session"),
            Mark.BAR,
            Message("Somebody stopped it, or its time was over."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state of a session"),
            Mark.CROSS,
            Message("The app could not start, or it ended with an error; its page says why."),
            is_final=True,
        ),
    ),
)
STATES = (SESSION,)
