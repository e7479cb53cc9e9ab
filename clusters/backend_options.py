"""Describe and check the options of a backend from its Config; no form knows a backend by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from django.conf import settings

from portal.core.errors import InvalidInput
from portal.core.options import (
    Option,
    Options,
    OptionShape,
    WayShape,
    check,
    options_in,
    way_named,
    ways_of,
)
from schedulers import backends
from schedulers.contract import Capability, rejections

__all__ = ["Option", "Options", "backend_kinds", "checked", "options_of"]


class BackendKindShape(TypedDict):
    name: str
    title: str
    about: str
    options: list[OptionShape]
    ways: Annotated[list[WayShape], "Ways to connect; empty if there is one."]


def backend_kinds() -> list[BackendKindShape]:
    """Return every backend with its options, for forms and the API."""
    return [
        {
            "name": name,
            "title": str(kind.title),
            "about": getattr(kind, "about", ""),
            "options": [option.as_dict() for option in options_of(name)],
            "ways": [way.as_dict() for way in ways_of(config_of(name))],
        }
        for name, kind in sorted(backends().items(), key=_schedulers_first)
        if not getattr(kind, "is_hidden", False)
    ]


def _schedulers_first(named: tuple[str, Any]) -> tuple[bool, str]:
    """Sort the portal's own machine behind the schedulers."""
    name, kind = named
    return Capability.USERS in kind.capabilities, name


def options_of(backend: str) -> list[Option]:
    """Return the options of a backend in the order of its Config.

    Raises InvalidInput for an unknown backend.
    """
    kind = backends().get(backend)
    if kind is None:
        raise InvalidInput.at(
            "backend",
            f"{backend[:40]!r} is not a backend; use one of {', '.join(sorted(backends()))}",
        )
    config = config_of(backend)
    return [] if config is None else options_in(config)


def config_of(backend: str) -> type[Any] | None:
    """Return the Config of a backend that exists."""
    kind = backends()[backend]
    return getattr(kind, "Config", None) or getattr(inspect.getmodule(kind), "Config", None)


def checked(
    backend: str, given: Mapping[str, Any], former: Options | None = None, way: str = ""
) -> Options:
    """Validate and convert the values; see `portal.core.options.check`.

    Raises InvalidInput, also for what the backend refuses.
    """
    kind: Any = backends().get(backend)

    def faults_in(made: Options) -> list[tuple[str, str]]:
        if Capability.USERS in kind.capabilities:
            return rejections(lambda: kind.check_options(made.plain, settings.MUSTER_HOME))
        find = getattr(kind, "option_faults", None)
        return find(made.together()) if find else []

    options, ways = options_of(backend), ways_of(config_of(backend))
    chosen = way_named(ways, way, {}) if way else None
    return check(options, given, former, way=chosen, ways=ways, faults_in=faults_in)
