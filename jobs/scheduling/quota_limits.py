"""What is said of a limit that a job waits for: whose, how much, what is kept for others, and which limit would be enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jobs.models import Job
from portal.core.formatting import amount_text, number_text, typed_text
from workspaces.quotas.gpu_hours import begins_anew
from workspaces.quotas.limits import GPU_HOURS, STORAGE

_NOBODY = {"org": "The organization", "team": "The team", "user": "Its owner"}
_NAMED = {"org": "{}", "team": "Team {}", "user": "{}"}


def limit_text(facts: Mapping[str, Any]) -> str:
    """ "Team Vision holds 7 GPUs of 8 GPUs; this asks 2 GPUs."."""
    if facts["resource"] == GPU_HOURS:
        return _hours_text(facts)
    if facts["resource"] == STORAGE:
        return _storage_text(facts)

    def text(name: str) -> str:
        return amount_text(facts["resource"], facts[name])

    kept = (
        f", and {text('kept')} of it are kept free for what others are guaranteed"
        if facts.get("kept", 0) > 0
        else ""
    )
    return f"{whose(facts)} holds {text('used')} of {text('limit')}{kept}; this asks {text('ask')}."


def _hours_text(facts: Mapping[str, Any]) -> str:
    """ "Team Vision has used 100.5 of 100 GPU-hours of this month, what runs now included. The next month begins on 2026-12-01 00:00 UTC, …"."""
    used, limit = (number_text(GPU_HOURS, facts[name]) for name in ("used", "limit"))
    told = f"{whose(facts)} has used {used} of {limit} GPU-hours of this month, what runs now included."
    if "until" not in facts:
        return told
    begins = f"The next month begins on {facts['until'][:16].replace('T', ' ')} UTC, and it may start then."
    return f"{told} {begins}"


def _storage_text(facts: Mapping[str, Any]) -> str:
    """ "Team Vision keeps 10.2 GiB of logs, and its limit is 10 GiB. It may start once logs are deleted or the limit is raised."."""
    used, limit, kept = (
        amount_text(STORAGE, facts.get(name, 0)) for name in ("used", "limit", "kept")
    )
    told = f"{whose(facts)} keeps {used} of logs, and the limit is {limit}."
    if facts.get("kept", 0) > 0:
        told = f"{whose(facts)} keeps {used} of logs, and the limit is {limit}, of which {kept} are kept free for what others are guaranteed."
    return f"{told} " + "It may start once logs are deleted or the limit is raised."


def no_storage(scope: str) -> str:
    """Said where no job could ever start."""
    who = {"org": "The organization's", "team": "The team's", "user": "Your"}[scope]
    return f"{who} limit is 0 B of logs, so no job can ever start: ask an administrator for more."


def no_hours(scope: str) -> str:
    """Said where a job with GPUs could not start in any month."""
    who = {"org": "The organization's", "team": "The team's", "user": "Your"}[scope]
    return f"{who} limit is 0 GPU-hours a month, so no job with GPUs can ever start: ask for none, or ask an administrator for more."


def until(facts: Mapping[str, Any]) -> dict[str, str]:
    """When a limit of a month ends to be in the way."""
    return {"until": begins_anew().isoformat()} if facts.get("resource") == GPU_HOURS else {}


def advice(facts: Mapping[str, Any]) -> str:
    """Which limit would start it now."""
    if "enough" not in facts:
        return ""
    return f"It would start now if the limit of {whose(facts, is_first=False)} were {amount_text(facts['resource'], facts['enough'])}."


def whose(facts: Mapping[str, Any], *, is_first: bool = True) -> str:
    """Whose limit it is; by name where the name is known."""
    said = (
        _NAMED[facts["scope"]].format(facts["whose"])
        if facts.get("whose")
        else _NOBODY[facts["scope"]]
    )
    return (
        said
        if is_first or (facts.get("whose") and facts["scope"] != "team")
        else said[0].lower() + said[1:]
    )


def more(facts: Mapping[str, Any], job: Job) -> str:
    """The query of the page on which a limit that would be enough is asked for; empty where no limit of ours is in the way."""
    if "scope" not in facts:
        return ""
    who = {"org": "org:", "team": f"team:{job.team.slug}", "user": f"user:{job.owner.email}"}[
        facts["scope"]
    ]
    enough = facts.get("enough") or facts["used"] + facts["ask"]
    amount = typed_text(facts["resource"], enough)
    return urlencode(
        {"ask": who, "resource": facts["resource"], "amount": amount, "job": job.number}
    )
