"""What answers say beside the reason of a pending or failed job: when it starts, and what helps."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from portal.core.shapes import Time


class ExpectedStartShape(TypedDict):
    at: Annotated[Time | None, "Never in the past; null if it is not known."]
    sureness: Annotated[
        Literal["now", "planned", "if_limits", "not_before", "unknown"],
        "planned: the scheduler or a fixed time says so; if_limits: if running jobs use their whole "
        "time limits, else sooner; not_before: others may go first.",
    ]
    text: Annotated[str, "In one sentence, with the time in UTC."]
    source: Annotated[str, "Who says so: Muster, or the cluster's scheduler."]


class SuggestionShape(TypedDict):
    label: Annotated[str, "Of a button."]
    text: Annotated[str, "Why it helps; may be empty."]
    changes: Annotated[dict[str, Any], "Fields of the spec with their new values; may be empty."]
    page: Annotated[str, "The page that takes it; empty for a draft, which changes itself."]
    action: Annotated[str, "What a POST of the job does instead, such as release."]
    command: Annotated[str, "The same as a command; empty for a draft."]
