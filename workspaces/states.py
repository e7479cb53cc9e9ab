"""States of requests and of directories."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

REQUEST = States(
    "request",
    "State of a request.",
    (
        State(
            "open",
            Message("open", context="state"),
            Mark.HOLLOW,
            Message("Nobody has decided yet."),
        ),
        State(
            "approved",
            Message("approved", context="state"),
            Mark.CHECK,
            Message("It was approved."),
            is_active=True,
        ),
        State(
            "declined",
            Message("declined", context="state"),
            Mark.CROSS,
            Message("It was declined."),
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
            Message("What was approved is over, or was returned."),
            is_final=True,
        ),
    ),
)
DIRECTORY = States(
    "directory",
    "State of a directory.",
    (
        State(
            "connected",
            Message("connected", context="state"),
            Mark.CHECK,
            Message("It answers."),
            is_active=True,
        ),
        State(
            "connecting",
            Message("not contacted yet", context="state"),
            Mark.HOLLOW,
            Message("Muster has not asked it anything."),
        ),
        State(
            "not responding",
            Message("not responding", context="state"),
            Mark.CROSS,
            Message("It refuses, or does not answer."),
        ),
        State(
            "disabled",
            Message("disabled", context="state"),
            Mark.BAR,
            Message("Nobody signs in with it, and nothing is synchronized."),
        ),
    ),
)
SYNC = States(
    "sync",
    "Result of a synchronization.",
    (
        State(
            "queued",
            Message("queued", context="state"),
            Mark.HOLLOW,
            Message("It begins within seconds."),
        ),
        State(
            "running",
            Message("running", context="state"),
            Mark.PULSE,
            Message("The directory is being read."),
            is_active=True,
        ),
        State(
            "dry",
            Message("previewed", context="state"),
            Mark.CHECK,
            Message("A dry run: nothing was changed."),
            is_final=True,
        ),
        State(
            "done",
            Message("done", context="state"),
            Mark.CHECK,
            Message("The changes were applied."),
            is_final=True,
        ),
        State(
            "unchanged",
            Message("no changes", context="state"),
            Mark.CHECK,
            Message("Everything agrees with the directory."),
            is_final=True,
        ),
        State(
            "stopped",
            Message("stopped", context="state"),
            Mark.DASHED,
            Message("It would change so much that somebody has to accept it."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("The directory could not be read."),
            is_final=True,
        ),
    ),
)
STATES = (REQUEST, DIRECTORY, SYNC)
