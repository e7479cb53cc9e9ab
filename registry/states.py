"""States of model versions and of their approval."""

from __future__ import annotations

from portal.core.messages import Message
from portal.core.states import Mark, State, States

VERSION = States(
    "model_version",
    "State of a model version.",
    (
        State(
            "PENDING_REGISTRATION",
            Message("uploading", context="state"),
            Mark.HALF,
            Message("Its files are being uploaded."),
            is_active=True,
        ),
        State(
            "READY",
            Message("ready", context="state"),
            Mark.CHECK,
            Message("It has all its files."),
            is_active=True,
        ),
        State(
            "FAILED_REGISTRATION",
            Message("upload failed", context="state"),
            Mark.CROSS,
            Message("Its files are not complete."),
            is_final=True,
        ),
    ),
)
APPROVAL = States(
    "approval",
    "Approval of a model version.",
    (
        State(
            "none",
            Message("not requested", context="state"),
            Mark.HOLLOW,
            Message("Nobody asked for an approval."),
        ),
        State(
            "requested",
            Message("approval requested", context="state"),
            Mark.HALF,
            Message("Somebody else has to decide."),
        ),
        State(
            "approved",
            Message("approved", context="state"),
            Mark.CHECK,
            Message("It may be used where an approval is needed."),
            is_active=True,
        ),
        State(
            "rejected",
            Message("rejected", context="state"),
            Mark.CROSS,
            Message("It was not approved, or the approval was revoked."),
            is_final=True,
        ),
    ),
)
STATES = (
    VERSION,
    APPROVAL,
)
