"""What apps declare in their standard modules, found by name (docs/design/layout.md).

An app that has a module `web/navigation.py` with `ENTRIES` has entries in the navigation: nothing
calls a function to register them. A registry asks `declared("web.navigation", "ENTRIES")`, so it
stays in its layer and imports no app.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from django.apps import AppConfig, apps

# The standard modules that are asked for, beside Django's own (`models`, `management`).
OF_PAGES = (
    "urls",
    "api.urls",
    "web.urls",
    "web.navigation",
    "web.search",
    "permissions",
    "protocols",
    "notices",  # notifications
    "states",
    "events",
    "live_topics",
    "providers",  # answers to the layers below; each constant is named by the module that asks
)
STANDARD = (*OF_PAGES, "tasks", "background")


class MusterApp(AppConfig):
    """An app of Muster: its standard modules are asked for what they declare."""

    default = False  # Django takes the subclass of an app's module `apps`, not this one

    def __init_subclass__(cls) -> None:
        cls.default = True


@cache
def declared(module: str, attribute: str) -> tuple[Any, ...]:
    """Return what all apps declare as `attribute` in `module`, in the order of INSTALLED_APPS."""
    return tuple(each for _, found in declarations(module, attribute) for each in found)


def declarations(module: str, attribute: str) -> Iterator[tuple[MusterApp, Any]]:
    """Yield each app that declares `attribute` in `module`, with its value."""
    for app, found in modules(module):
        if hasattr(found, attribute):
            yield app, getattr(found, attribute)


def modules(name: str) -> Iterator[tuple[MusterApp, ModuleType]]:
    """Import and yield the module of this name of each app that has it."""
    if name not in STANDARD:
        raise LookupError(f"{name} is not a standard module; add it to {__name__}.STANDARD")
    for app in apps.get_app_configs():
        if isinstance(app, MusterApp) and _exists(f"{app.name}.{name}"):
            yield app, import_module(f"{app.name}.{name}")


def load(names: Iterable[str] = STANDARD) -> None:
    """Import standard modules, so that processes that are forked later share their memory."""
    for name in names:
        for _ in modules(name):
            """Importing is all."""


@cache
def _exists(path: str) -> bool:
    package = path.rpartition(".")[0]
    return (package.count(".") == 0 or _exists(package)) and find_spec(path) is not None
