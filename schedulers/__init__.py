"""Discover the scheduler backends that Muster supports.

Each backend is a package with a module `backend` that defines one class implementing `Backend`.
Backends are found by import and never listed elsewhere; the row of a cluster names the one it uses.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from schedulers.contract import Capability

_registered: dict[str, Any] = {}


def register(kind: Any) -> None:
    """Add a backend class from outside this package. Call it while Django starts."""
    _registered[kind.name] = kind


@cache
def backends() -> dict[str, Any]:
    """Return all backend classes by name."""
    found: dict[str, Any] = dict(_registered)
    for package in pkgutil.iter_modules(__path__):
        if not package.ispkg or find_spec(f"{__name__}.{package.name}.backend") is None:
            continue
        module = import_module(f"{__name__}.{package.name}.backend")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and hasattr(kind, "capabilities"):
                found[kind.name] = kind  # type: ignore[attr-defined]  # every backend has a name
    return found


def capabilities_of(
    name: str, options: Callable[[], Mapping[str, Any]] | None = None
) -> frozenset[Capability]:
    """Return the capabilities of a backend, given the options of a cluster if any.

    `options` is only called if the capabilities depend on it. Raises KeyError for an unknown
    backend.
    """
    kind = backends()[name]
    with_options = getattr(kind, "capabilities_with", None)
    return with_options(options()) if with_options and options else kind.capabilities  # type: ignore[no-any-return]


def title_of(name: str) -> str:
    """Return the name that pages show for a backend: "this machine"."""
    return str(backends()[name].title) if name in backends() else name
