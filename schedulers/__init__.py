"""The schedulers that Muster supports: each is a package with a module `backend` and in it one class that fulfils `Backend`.

Nothing else in the tree names one: they are discovered, and a cluster's row says which it uses.
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


@cache
def backends() -> dict[str, Any]:
    """Every backend class by its name."""
    found: dict[str, Any] = {}
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
    """What this backend can do; with a cluster's options, which are read only where they matter, what it can do there. Raises
    KeyError for a name that is none."""
    kind = backends()[name]
    with_options = getattr(kind, "capabilities_with", None)
    return with_options(options()) if with_options and options else kind.capabilities  # type: ignore[no-any-return]


def title_of(name: str) -> str:
    """How pages name it as a source: "this machine"."""
    return str(backends()[name].title) if name in backends() else name
