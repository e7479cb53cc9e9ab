"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from sessions import services
from sessions.choices import SessionChoices
from tests.matrix import EVERYBODY, VIEWERS, WORKERS, Row
from tests.story import Story
from workspaces.access.permissions import Permission as P

VALUES = {"which": "scratch"}
LISTS = {"api-interactive-sessions", "api-session-templates"}
ROWS = {
    ("api-interactive-sessions", "GET"): Row(EVERYBODY, None),  # those that are visible
    ("api-interactive-sessions", "POST"): Row(
        WORKERS, P.JOBS_SUBMIT, {"team": "vision", "template": "terminal"}
    ),
    ("api-interactive-session", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-interactive-session-stop", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-session-templates", "GET"): Row(EVERYBODY, None),  # the same for everybody
}
FORMS = {
    "session-new": (WORKERS, {"team": "vision", "template": "terminal"}),
    "session-stop": (WORKERS, {}),
}


def add(story: Story) -> None:
    """Start the session that VALUES names, in the scope of the organization."""
    services.start_session(
        actor=story.actor(story.ben),
        team=story.vision,
        choices=SessionChoices("terminal", name="scratch"),
    )
