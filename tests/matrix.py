"""What the tests that loop over all routes need to know of each app: `tests/APP/matrix.py`.

VALUES of the parts of paths · ROWS, of (route, verb), and FORMS, of pages · SCOPES that a token needs
in addition, by the beginning of a route's name · LISTS that answer everybody with what is visible ·
`add(story)`, which makes the objects that VALUES name · SILENT and SILENT_FORMS, which record no
event, with the reason · WITHOUT_STATE, events without values before and after · BEFORE, what a change
needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from workspaces.access.permissions import AppPermission

FORWARD = "00000000-0000-7000-8000-000000000011"
# What the parts of paths are; apps may declare more
VALUES = {
    "org": "atlas",
    "team": "vision",
    "email": "ben@atlas.example",
    "token": "00000000-0000-7000-8000-000000000000",
    "job": "1",
    "forward": FORWARD,
    "node": "n1",
    "uuid": "GPU-0-0",
    "verb": "hold",
    "cluster": "local",
    "source": "metrics",
    "pool": "main",
    "role": "trainer",
    "account": "nightly",
    "where": "vision",
    "secret": "wandb",
    "number": "1",
    "client": "grafana",
    "announcement": "00000000-0000-7000-8000-000000000003",
    "slug": "corp",
    "person": "00000000-0000-7000-8000-000000000004",
    "ask": "00000000-0000-7000-8000-000000000021",
    "run": "00000000-0000-7000-8000-000000000022",
    "plan": "00000000-0000-7000-8000-000000000024",
    "test": "00000000-0000-7000-8000-000000000023",
    "model": "digits",
    "version": "1",
    "alias": "champion",
    "repository": "cifar",
    "workspace": "code",
    "kind": "datasets",
    "approval_kind": "pool",
    "with_team": "speech",
    "revision": "1",
    "tag": "v1",
    "branch": "try",
    "upload": "00000000-0000-7000-8000-000000000032",
    "imported": "00000000-0000-7000-8000-000000000033",
    "trashed": "00000000-0000-7000-8000-000000000031",
    "month": "2026-10",
    "price": "00000000-0000-7000-8000-000000000044",
    "channel": "00000000-0000-7000-8000-000000000041",
    "delivery": "00000000-0000-7000-8000-000000000042",
    "notification": "00000000-0000-7000-8000-000000000043",
    "invitation": "00000000-0000-7000-8000-000000000001",
    "session": "00000000-0000-7000-8000-000000000002",
}
# Ada owns Atlas, Amy administers it, Lee leads Vision, Ben works in it, Vis may view it; Vic may
# view all of Atlas.
# Eve works in another team (Speech); Uma administers people; Bea sees only bills; Dot operates the
# platform.
EVERYBODY = frozenset(["ada", "amy", "lee", "ben", "vis", "vic", "eve", "uma", "bea", "dot"])
INSIDERS = EVERYBODY - {"bea"}
OPERATORS = frozenset(["dot"])
OWNERS = frozenset(["ada", "dot"])
ADMINS = frozenset(["ada", "amy", "dot"])
LEADS = ADMINS | {"lee"}
PEOPLE = ADMINS | {"uma"}
WORKERS = LEADS | {"ben"}
VIEWERS = WORKERS | {"vis", "vic"}
NOBODY = frozenset[str]()


@dataclass(frozen=True)
class Row:
    """`who` is allowed; a token needs `scope` (None: any scope will do)."""

    who: frozenset[str]
    scope: AppPermission | None
    body: dict[str, Any] = field(default_factory=dict)


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return the modules `tests.APP.matrix`, by name."""
    files = sorted(Path(__file__).parent.glob("*/matrix.py"))
    return tuple(import_module(f"tests.{file.parent.name}.matrix") for file in files)


def entries(name: str) -> dict[Any, Any]:
    """Return what all apps declare as the mapping `name`."""
    return dict(pair for module in modules() for pair in getattr(module, name, {}).items())


def members(name: str) -> set[Any]:
    """Return what all apps declare as the set `name`."""
    return {one for module in modules() for one in getattr(module, name, ())}


def builders() -> Iterator[Any]:
    """Yield the functions `add(story)` of all apps."""
    for module in modules():
        if hasattr(module, "add"):
            yield module.add
