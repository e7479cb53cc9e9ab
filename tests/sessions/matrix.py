"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from typing import Any

from sessions import services
from sessions.choices import SessionChoices
from sessions.selectors import find_session
from sessions.sharing import share_session
from tests.matrix import ADMINS, EVERYBODY, VIEWERS, WORKERS, Row
from tests.story import Story
from workspaces.access.permissions import Permission as P
from workspaces.tenancy.scope import org_scope

VALUES = {"which": "scratch", "act": "stop"}
LISTS = {"api-interactive-sessions", "api-session-templates"}
SCOPES = {
    "api-interactive-session-": P.JOBS_READ,
    "api-interactive-session-restart": P.JOBS_CANCEL,
}
ROWS = {
    ("api-interactive-sessions", "GET"): Row(EVERYBODY, None),  # those that are visible
    ("api-interactive-sessions", "POST"): Row(
        WORKERS, P.JOBS_SUBMIT, {"team": "vision", "template": "terminal"}
    ),
    ("api-interactive-session", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-interactive-session-stop", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-interactive-session-resume", "POST"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-interactive-session-restart", "POST"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-interactive-session-share", "POST"): Row(
        WORKERS, P.JOBS_EXEC, {"who": "team", "access": "read"}
    ),
    ("api-interactive-session-unshare", "POST"): Row(WORKERS, P.JOBS_EXEC, {"who": "team"}),
    ("api-interactive-session-extend", "POST"): Row(WORKERS, P.JOBS_SUBMIT, {"by": "1h"}),
    ("api-interactive-session-keep", "POST"): Row(WORKERS, P.JOBS_CANCEL, {"hours": 2}),
    ("api-interactive-session-token", "POST"): Row(ADMINS | {"ben"}, P.JOBS_EXEC),
    ("api-session-templates", "GET"): Row(EVERYBODY, None),  # the same for everybody
}
FORMS = {
    "session-new": (WORKERS, {"team": "vision", "template": "terminal"}),
    "session-act": (WORKERS, {}),
}


def _end(stage: Any) -> None:
    """Stop the session, which has not begun, so that it can be started again."""
    story = stage.story
    with org_scope(story.atlas.id):
        actor = story.actor(story.ben)
        services.stop_session(actor=actor, session=find_session(actor, VALUES["which"]))


def _share(stage: Any) -> None:
    story = stage.story
    with org_scope(story.atlas.id):
        actor = story.actor(story.ben)
        session = find_session(actor, VALUES["which"])
        share_session(actor=actor, session=session, who="team", access="read")


WITHOUT_STATE = {"interactive.token_shown"}
BEFORE = {
    ("api-interactive-session-unshare", "POST"): _share,
    ("api-interactive-session-resume", "POST"): _end,
    ("api-interactive-session-restart", "POST"): _end,
}


def add(story: Story) -> None:
    """Start the session that VALUES names, in the scope of the organization."""
    services.start_session(
        actor=story.actor(story.ben),
        team=story.vision,
        choices=SessionChoices("terminal", name="scratch", workspace="none"),
    )
