"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, TypedDict

from muster.shapes.jobs import ExpectedStartShape, JobShape, ReasonShape
from muster.shapes.portal import Id, PersonShape, Time


class IdleClockShape(TypedDict):
    pool: str
    window: Annotated[int, "Minutes without use until the warning."]
    grace: Annotated[int, "Minutes from the warning to the action."]
    action: Annotated[str, "warn, lower or stop"]
    is_running: Annotated[
        bool, "It counts towards the action; not while GPUs work or nobody knows."
    ]
    used_at: Annotated[Time, "The last use; the start of the session counts."]
    warns_at: Time | None
    acts_at: Annotated[Time | None, "When the rule acts if nobody uses it; null if it only warns."]
    warned_at: Time | None
    kept_until: Time | None
    kept_by: str
    text: str
    signs: list[IdleSignShape]


class IdleSignShape(TypedDict):
    title: Annotated[str, "What counts as use."]
    at: Annotated[Time | None, "When it was last seen; null: not yet."]
    text: Annotated[str, "What is said instead of a time, such as that it is not measured."]


class InteractiveSessionShape(TypedDict):
    id: Id
    number: int
    name: str
    team: str
    team_name: str
    owner: PersonShape
    template: str
    template_title: str
    template_version: int
    state: Annotated[str, "State of a session."]
    job: JobShape
    created_at: Time
    last_used_at: Annotated[Time | None, "The last request to the app, or byte of a websocket."]
    page: str
    url: Annotated[str, "The app, for browsers: it asks to sign in."]
    may_open: Annotated[bool, "You may open the app."]
    access: Annotated[str, "How you may open it: write, read (to look at only), or empty."]


class InteractiveSessionDetailShape(InteractiveSessionShape):
    choices: dict[str, str]
    time_limit: str
    ends_at: Annotated[Time | None, "When its time limit ends; null unless it runs."]
    can_extend: Annotated[bool, "Its time limit can be raised now, on this cluster."]
    image: str
    people: Annotated[
        list[SessionPersonShape], "The owner, those it is shared with, and who else is in it now."
    ]
    may_share: bool
    can_be_read: Annotated[bool, "It can be shared to look at only."]
    idle: Annotated[IdleClockShape | None, "null unless it runs and an idle rule applies."]
    home: Annotated[str, "The workspace that is its HOME; empty if it has none."]
    progress: SessionProgressShape | None
    problem: SessionProblemShape | None


class SessionFaultShape(TypedDict):
    field: Annotated[str, "As in the body; empty for what has no field."]
    message: str


class SessionPersonShape(TypedDict):
    person: Annotated[PersonShape | None, "null: all members of the team."]
    access: Annotated[str, "read or write; the owner's is owner, and role comes with a role."]
    is_in: Annotated[bool, "Has used the app within the last 30 seconds."]


class SessionProblemShape(TypedDict):
    text: Annotated[str, "Why it failed."]
    fix: Annotated[str, "What to do; empty if nothing helps for sure."]
    image: Annotated[str, "An image with which it would start; empty if none is known."]
    reason: ReasonShape | None


class SessionProgressShape(TypedDict):
    text: Annotated[str, "One sentence: what it waits for, or what happens."]
    expected: Annotated[ExpectedStartShape | None, "null unless it waits."]


class SessionStartShape(TypedDict):
    ok: Annotated[bool, "The session would be accepted."]
    starts_now: bool
    text: Annotated[str, "Where it would start, what it would wait for, or why it is refused."]
    errors: list[SessionFaultShape]
    expected: Annotated[ExpectedStartShape | None, "null unless it would wait."]


class SessionTemplateShape(TypedDict):
    name: str
    title: str
    about: str
    version: int
    images: Annotated[list[str], "Examples that have the program."]
    cpus: Annotated[float, "In cores, by default."]
    memory: Annotated[str, "By default."]
    time_limit: Annotated[str, "By default."]
    needs_command: bool


class SessionTokenShape(TypedDict):
    token: Annotated[str, "For `Authorization: token …`; JupyterLab also takes `?token=…`."]
