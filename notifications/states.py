"""States of notification channels and of what they deliver."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

CHANNEL = States(
    "channel",
    "State of a notification channel.",
    (
        State(
            "enabled",
            Message("enabled", context="state"),
            Mark.CHECK,
            Message("Messages are sent."),
            is_active=True,
        ),
        State(
            "failing",
            Message("failing", context="state"),
            Mark.CROSS,
            Message("The last message was refused; Muster tries again."),
            is_active=True,
        ),
        State(
            "disabled",
            Message("disabled", context="state"),
            Mark.BAR,
            Message("Nothing is sent. It failed for days, or somebody disabled it."),
        ),
    ),
)
DELIVERY = States(
    "delivery",
    "State of a message.",
    (
        State(
            "waiting",
            Message("waiting", context="state"),
            Mark.HOLLOW,
            Message("It has not been sent yet."),
        ),
        State(
            "retrying",
            Message("trying again", context="state"),
            Mark.HALF,
            Message("It was refused; Muster tries again."),
            is_active=True,
        ),
        State(
            "sent",
            Message("delivered", context="state"),
            Mark.CHECK,
            Message("It was accepted."),
            is_final=True,
        ),
        State(
            "failed",
            Message("failed", context="state"),
            Mark.CROSS,
            Message("It was given up."),
            is_final=True,
        ),
        State(
            "dropped",
            Message("dropped", context="state"),
            Mark.BAR,
            Message("The person lost access, or turned these messages off."),
            is_final=True,
        ),
    ),
)
STATES = (
    CHANNEL,
    DELIVERY,
)
