"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, TypedDict

from muster.shapes.jobs import ExpectedStartShape, JobShape, ReasonShape
from muster.shapes.portal import Id, PersonShape, Time


class InteractiveSessionShape(TypedDict):
    id: Id
    number: int
    name: str
    team: str
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
    may_open: Annotated[bool, "You may open the app, as whoever may run commands in the session."]


class InteractiveSessionDetailShape(InteractiveSessionShape):
    choices: dict[str, str]
    time_limit: str
    image: str
    progress: SessionProgressShape | None
    problem: SessionProblemShape | None


class SessionFaultShape(TypedDict):
    field: Annotated[str, "As in the body; empty for what has no field."]
    message: str


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
