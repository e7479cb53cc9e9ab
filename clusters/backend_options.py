"""Describe and check the options of a backend from its Config; no form knows a backend by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypedDict

from django.conf import settings

from portal.core.errors import InvalidInput
from portal.core.options import Option, Options, OptionShape, check, options_in
from schedulers import backends
from schedulers.contract import Capability, Rejected

__all__ = ["Option", "Options", "backend_kinds", "checked", "options_of"]


class BackendKindShape(TypedDict):
    name: str
    title: str
    about: str
    options: list[OptionShape]


def backend_kinds() -> list[BackendKindShape]:
    """Return every backend with its options, for forms and the API."""
    return [
        {
            "name": name,
            "title": str(kind.title),
            "about": getattr(kind, "about", ""),
            "options": [option.as_dict() for option in options_of(name)],
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
    config = getattr(kind, "Config", None) or getattr(inspect.getmodule(kind), "Config", None)
    return [] if config is None else options_in(config)


def checked(backend: str, given: Mapping[str, Any], former: Options | None = None) -> Options:
    """Validate and convert the values; see `portal.core.options.check`.

    Raises InvalidInput, also for what the backend refuses.
    """
    made = check(options_of(backend), given, former)
    kind: Any = backends()[backend]
    if Capability.USERS in kind.capabilities:
        try:
            kind.check_options(made.plain, settings.MUSTER_HOME)
        except Rejected as error:
            raise InvalidInput.at(f"options.{error.field}", str(error)) from error
    return made
