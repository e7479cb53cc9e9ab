"""How careful the health rules of a cluster are, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from clusters.health.checks import CHECKS, Action, checks_with
from portal.core.errors import InvalidInput
from portal.core.messages import Message

_DAY = 1440  # minutes


class HealthPresetShape(TypedDict):
    name: str
    title: str
    about: str


@dataclass(frozen=True)
class HealthPreset:
    """Settings of all checks. `instead` maps a check's usual action to the one that it has here."""

    name: str
    title: str
    about: str
    instead: Mapping[Action, Action]

    def checks(self) -> dict[str, dict[str, Any]]:
        """Return all settings of each check, as `change_health_policy` takes them."""
        found: dict[str, dict[str, Any]] = {}
        for check in CHECKS:
            action = self.instead.get(check.action, check.action)
            threshold = {} if check.threshold is None else {"threshold": check.threshold}
            found[check.code] = {
                "action": str(action),
                "minutes": check.minutes,
                # a warning ends by itself
                "returns": check.returns or (_DAY if action is Action.WARN else 0),
                **threshold,
            }
        return found


PRESETS = (
    HealthPreset(
        "watch",
        Message("Watch", context="text, clusters, be notified"),
        Message("Every finding only warns. No node is taken out of service."),
        {Action.DRAIN: Action.WARN, Action.QUARANTINE: Action.WARN},
    ),
    HealthPreset(
        "standard",
        Message("Standard", context="text, clusters"),
        Message(
            "Nodes that break jobs take no new ones until the fault is gone; those that need a "
            "repair wait for an operator."
        ),
        {},
    ),
    HealthPreset(
        "strict",
        Message("Strict", context="text, clusters"),
        Message("What otherwise warns, such as repaired memory or heat, takes no new jobs either."),
        {Action.WARN: Action.DRAIN},
    ),
)


def preset_named(name: str) -> HealthPreset:
    """Return a preset. Raises InvalidInput."""
    for preset in PRESETS:
        if preset.name == name:
            return preset
    names = ", ".join(preset.name for preset in PRESETS)
    raise InvalidInput.at(
        "preset", Message("must be one of {names}", context="error of a field", names=names)
    )


def preset_of(changes: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the preset that a cluster's settings are, or "" if they are its own."""
    now = checks_with(changes)
    for preset in PRESETS:
        if all(
            getattr(now[code], name) == value
            for code, settings in preset.checks().items()
            for name, value in settings.items()
        ):
            return preset.name
    return ""
