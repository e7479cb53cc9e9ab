"""Describe the limit that a job waits for: whose it is, its amounts and the limit needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portal.core.formatting import amount_text, number_text
from portal.core.messages import Message
from workspaces.quotas.gpu_hours import next_reset
from workspaces.quotas.limits import GPU_HOURS, STORAGE

_LIMITS_OF = {
    "org": Message("The organization's"),
    "team": Message("The team's", context="whose limit"),
    "user": Message("Your", context="whose limit"),
}


def limit_text(facts: Mapping[str, Any]) -> str:
    """Return "Team Vision is using 7 of 8 GPUs; 2 GPUs requested."."""
    if facts["resource"] == GPU_HOURS:
        return _hours_text(facts)
    if facts["resource"] == STORAGE:
        return _storage_text(facts)

    def text(name: str) -> str:
        return amount_text(facts["resource"], facts[name])

    kind = str(facts["resource"]).partition(".")[0]
    is_bytes = kind in {"memory", "storage"}
    used = text("used") if is_bytes else number_text(kind, facts["used"])
    kept = ""
    if facts.get("kept", 0) > 0:
        kept = Message(
            ", and {kept} of it are reserved for the guaranteed quotas of others", kept=text("kept")
        )
    values = {"x": used, "x2": text("limit"), "kept": kept, "x3": text("ask")}
    if facts["scope"] == "user" and facts.get("is_you"):
        return Message("You're using {x} of {x2}{kept}; {x3} requested.", **values)
    return Message(
        "{facts} is using {x} of {x2}{kept}; {x3} requested.", facts=whose(facts), **values
    )


def _hours_text(facts: Mapping[str, Any]) -> str:
    """Return the text for a monthly limit of GPU-hours, with the start of the next month."""
    used, limit = (number_text(GPU_HOURS, facts[name]) for name in ("used", "limit"))
    result = Message(
        "{facts} has used {used} of {limit} GPU-hours this month, including running jobs.",
        facts=whose(facts),
        used=used,
        limit=limit,
    )
    if "until" not in facts:
        return result
    begins = Message(
        "The limit resets on {x} UTC.",
        x=facts["until"][:16].replace("T", " "),
    )
    return Message.joined(" ", (result, begins))


def _storage_text(facts: Mapping[str, Any]) -> str:
    """Return the text for a storage limit."""
    used, limit, kept = (
        amount_text(STORAGE, facts.get(name, 0)) for name in ("used", "limit", "kept")
    )
    result = Message(
        "{facts} is using {used} of {limit} of storage.",
        facts=whose(facts),
        used=used,
        limit=limit,
    )
    if facts.get("kept", 0) > 0:
        result = Message(
            "{facts} is using {used} of {limit} of storage, of which {kept} are reserved for "
            "the guaranteed quotas of others.",
            facts=whose(facts),
            used=used,
            limit=limit,
            kept=kept,
        )
    return Message.joined(
        " ",
        (result, Message("Delete logs or artifacts, or request more storage, to let it start.")),
    )


def no_storage(scope: str) -> str:
    """Return the error for a storage limit of zero."""
    who = _LIMITS_OF[scope]
    return Message(
        "{who} limit is 0 B of storage, so no job can ever start: ask an administrator for more.",
        who=who,
    )


def no_hours(scope: str) -> str:
    """Return the error for a GPU-hour limit of zero."""
    who = _LIMITS_OF[scope]
    return Message(
        "{who} limit is 0 GPU-hours a month, so no job with GPUs can ever start: ask "
        "for none, or ask an administrator for more.",
        who=who,
    )


def until(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return when a monthly limit resets."""
    return {"until": next_reset().isoformat()} if facts.get("resource") == GPU_HOURS else {}


def advice(facts: Mapping[str, Any]) -> str:
    """Return the limit that would start the job now."""
    if "enough" not in facts:
        return ""
    return Message(
        "Would start now if the limit of {facts} were {resource}.",
        facts=whose(facts, is_first=False),
        resource=amount_text(facts["resource"], facts["enough"]),
    )


def whose(facts: Mapping[str, Any], *, is_first: bool = True) -> str:
    """Return whose limit it is, by name if known."""
    name = facts.get("whose")
    match facts["scope"]:
        case "team" if name:
            return (
                Message("Team {name}", context="whose limit", name=name)
                if is_first
                else Message("team {name}", context="whose limit", name=name)
            )
        case _ if name:
            return str(name)
        case "team":
            return (
                Message("The team", context="whose limit")
                if is_first
                else Message("the team", context="whose limit")
            )
        case "org":
            return (
                Message("The organization", context="whose limit")
                if is_first
                else Message("the organization", context="whose limit")
            )
    return (
        Message("Its owner", context="whose limit")
        if is_first
        else Message("its owner", context="whose limit")
    )
