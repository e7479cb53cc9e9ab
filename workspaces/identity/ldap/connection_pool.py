"""Pool directory connections, so that not every sign-in pays for a connection and a handshake.

Each use starts by binding as the bind DN. This resets the identity of the previous user, and
detects a locked bind account or a closed connection.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from portal.core import clock
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.settings import Config

# Seconds a connection may stay idle, and its maximum age: addresses and certificates are only
# checked when it opens.
IDLE, OLDEST = 60.0, 300.0
MOST = 16  # for all directories together


@dataclass(frozen=True)
class _PooledConnection:
    directory: Directory
    began: float
    since: float


_idle: list[_PooledConnection] = []
_lock = threading.Lock()
os.register_at_fork(after_in_child=_idle.clear)  # the relay threads stay with the parent


@contextmanager
def pooled_connection(config: Config, seconds: float) -> Iterator[Directory]:
    """Borrow a connection with exactly this config; it returns to the pool unless an error occurs.

    Raises DirectoryError.
    """
    until = clock.monotonic() + seconds
    directory, began = _resume_idle(config, until) or (
        Directory(config, seconds).__enter__(),
        clock.monotonic(),
    )
    try:
        yield directory
    except BaseException:
        directory.close()
        raise
    _return_to_pool(directory, began)


def close_all() -> None:
    """Close all pooled connections; for tests."""
    with _lock:
        while _idle:
            _idle.pop().directory.close()


def _resume_idle(config: Config, until: float) -> tuple[Directory, float] | None:
    """Resume a pooled connection, or return None.

    If one is closed, the others are likely closed too, and none is tried. Raises DirectoryError if
    the bind password is wrong, as a retry would count as a second failure. A server may refuse a
    second bind on one connection, so after any other error a new connection is tried.
    """
    kept = _take_idle(config, 1)
    if not kept:
        return None
    try:
        kept[0].directory.resume(max(0.1, until - clock.monotonic()))
        return kept[0].directory, kept[0].began
    except DirectoryError as trouble:
        for one in [*kept, *_take_idle(config, MOST)]:
            one.directory.close()
        if trouble.is_counted:
            raise
        return None


def _take_idle(config: Config, most: int) -> list[_PooledConnection]:
    """Take up to `most` connections from the pool, the most recent first."""
    with _lock:
        _drop_old()
        found = [one for one in reversed(_idle) if one.directory.config == config][:most]
        for one in found:
            _idle.remove(one)
        return found


def _return_to_pool(directory: Directory, began: float) -> None:
    now = clock.monotonic()
    with _lock:
        _drop_old()
        if len(_idle) < MOST and now - began < OLDEST and directory.rest(IDLE):
            _idle.append(_PooledConnection(directory, began, now))
            return
    directory.close()


def _drop_old() -> None:
    now = clock.monotonic()
    old = [one for one in _idle if now - one.since >= IDLE or now - one.began >= OLDEST]
    for one in old:
        _idle.remove(one)
        one.directory.close()
