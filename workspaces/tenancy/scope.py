"""The current tenant scope.

Entry points (HTTP, websocket, task, shell) enter it. Tenant rows cannot be read or written without
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


class NoScope(RuntimeError):
    """Tenant rows were accessed outside a scope.

    A bug of the caller, never shown to users.
    """


@dataclass(frozen=True)
class Scope:
    """A tenant scope. `org_id` None means the whole platform; `why` gives the reason."""

    org_id: UUID | None
    why: str = ""


_scope: ContextVar[Scope | None] = ContextVar("tenant_scope", default=None)
_in_request: ContextVar[bool] = ContextVar("in_request", default=False)


def current() -> Scope:
    """Return the current scope. Raises NoScope."""
    scope = _scope.get()
    if scope is None:
        raise NoScope(
            "enter an organization first: org_scope(org_id), or platform_scope(why) for work "
            "across all"
        )
    return scope


def scope_or_none() -> Scope | None:
    """Return the current scope, or None."""
    return _scope.get()


def is_in_request() -> bool:
    """Return whether a request is being handled: False in background loops, tasks and commands."""
    return _in_request.get()


@contextmanager
def request_scope() -> Iterator[None]:
    """Mark that a request is being handled: outside an organization it sees no tenant rows."""
    token = _in_request.set(True)
    try:
        yield
    finally:
        _in_request.reset(token)


@contextmanager
def org_scope(org_id: UUID) -> Iterator[Scope]:
    """Limit reads and writes to the rows of one organization."""
    with _enter(Scope(org_id)) as scope:
        yield scope


@contextmanager
def platform_scope(why: str) -> Iterator[Scope]:
    """Work across organizations, as sweeps and sign-in do.

    The required reason makes each use easy to find and review.
    """
    with _enter(Scope(None, why)) as scope:
        yield scope


@contextmanager
def no_scope() -> Iterator[None]:
    """Leave the current scope. For entry points that start afresh, and for tests."""
    token = _scope.set(None)
    try:
        yield
    finally:
        _scope.reset(token)


@contextmanager
def _enter(scope: Scope) -> Iterator[Scope]:
    token = _scope.set(scope)
    try:
        yield scope
    finally:
        _scope.reset(token)
