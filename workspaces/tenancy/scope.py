"""The tenant one works in. Entered at a door (HTTP, websocket, task, shell), it cannot be forgotten inside: without it,
tenant rows refuse to be read or written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


class NoScope(RuntimeError):
    """Tenant rows were reached without entering an organization: a bug of the caller, never shown to people."""


@dataclass(frozen=True)
class Scope:
    """`org_id` None means the whole platform; `why` says what for."""

    org_id: UUID | None
    why: str = ""


_scope: ContextVar[Scope | None] = ContextVar("tenant_scope", default=None)
_in_request: ContextVar[bool] = ContextVar("in_request", default=False)


def current() -> Scope:
    """The scope one is in. Raises NoScope."""
    scope = _scope.get()
    if scope is None:
        raise NoScope(
            "enter an organization first: org_scope(org_id), or platform_scope(why) for work across all"
        )
    return scope


def scope_or_none() -> Scope | None:
    """The scope one is in, None outside of all."""
    return _scope.get()


def is_in_request() -> bool:
    """Whether a request is being answered here; False in background loops, tasks and commands."""
    return _in_request.get()


@contextmanager
def request_scope() -> Iterator[None]:
    """Mark that a request is being answered, so that without an organization no organization's row is visible."""
    token = _in_request.set(True)
    try:
        yield
    finally:
        _in_request.reset(token)


@contextmanager
def org_scope(org_id: UUID) -> Iterator[Scope]:
    """Work inside one organization; its rows alone are seen and written."""
    with _enter(Scope(org_id)) as scope:
        yield scope


@contextmanager
def platform_scope(why: str) -> Iterator[Scope]:
    """Work across organizations (sweeps, sign-in). The reason is required so that each use can be found and judged."""
    with _enter(Scope(None, why)) as scope:
        yield scope


@contextmanager
def no_scope() -> Iterator[None]:
    """Leave whatever scope one is in. For doors that start afresh, and for tests."""
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
