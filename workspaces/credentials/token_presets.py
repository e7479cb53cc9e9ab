"""What tokens are for, in words: each purpose stands for scopes, in forms, the API and the CLI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from portal.core.messages import Message
from workspaces.access.actors import ALL_SCOPES
from workspaces.access.permissions import OPERATORS_ONLY, all_permissions
from workspaces.access.permissions import Permission as P


@dataclass(frozen=True)
class TokenPreset:
    """A purpose. `is_operators`: only operators may use it, for a cluster that they name."""

    name: str
    title: str
    about: str
    scopes: tuple[str, ...]
    is_operators: bool = False


@cache
def token_presets() -> tuple[TokenPreset, ...]:
    """Return the purposes; the first is the usual one of a person."""
    reads = [p for p in all_permissions() if p.endswith(":read") and p not in OPERATORS_ONLY]
    return (
        TokenPreset(
            "personal",
            Message("My computer", context="text, workspaces"),
            Message("The CLI, the SDK and notebooks. It may do everything its owner may."),
            (ALL_SCOPES,),
        ),
        TokenPreset(
            "ci",
            Message("CI pipeline", context="text, workspaces"),
            Message("Runs jobs and waits for them, and reads and stores data and models."),
            (
                P.DATASETS_READ,
                P.DATASETS_WRITE,
                P.JOBS_CANCEL,
                P.JOBS_READ,
                P.JOBS_SUBMIT,
                P.MODELS_READ,
                P.MODELS_WRITE,
                P.NODES_READ,
                P.QUOTAS_READ,
                P.TEAMS_READ,
            ),
        ),
        TokenPreset(
            "tracking",
            Message("Experiment tracking", context="text, workspaces"),
            Message("Logs runs, metrics and models from any machine. It can't run jobs."),
            (
                P.DATASETS_READ,
                P.EXPERIMENTS_READ,
                P.EXPERIMENTS_WRITE,
                P.MODELS_READ,
                P.MODELS_WRITE,
                P.TEAMS_READ,
            ),
        ),
        TokenPreset(
            "read-only",
            Message("Read-only", context="text, workspaces"),
            Message("Dashboards and reports. It sees what its owner sees and changes nothing."),
            tuple(reads),
        ),
        TokenPreset(
            "agent",
            Message("Node agent", context="text, workspaces"),
            Message("Sends measurements of one cluster's nodes, and nothing else."),
            (P.AGENT_WRITE,),
            is_operators=True,
        ),
    )


def with_presets(words: Iterable[str]) -> list[str]:
    """Return scopes, with those of each purpose instead of its name."""
    known = {preset.name: preset.scopes for preset in token_presets()}
    return [str(scope) for word in words for scope in known.get(word, (word,))]
