"""Where a provider may be asked, and by which client. Its administrators typed its addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from portal.core.outbound import Reach, Session

SECONDS = 5.0
_reach: ContextVar[Reach | None] = ContextVar("sso_reach", default=None)


def reach_of(config: Any) -> Reach:
    """Of a kind's Config. `is_private` is set by operators only; it also allows http, as services inside a house have it."""
    return Reach(is_private=config.is_private, is_plain=config.is_private, ca=config.ca, seconds=SECONDS)


@contextmanager
def reaching(config: Any) -> Iterator[None]:
    """Requests inside are of this provider."""
    token = _reach.set(reach_of(config))
    try:
        yield
    finally:
        _reach.reset(token)


def reach() -> Reach:
    """How far the provider at hand may be gone to."""
    return _reach.get() or Reach(seconds=SECONDS)


def session() -> Session:
    """The client for the provider at hand."""
    return Session(reach())
