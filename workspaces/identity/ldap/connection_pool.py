"""Conversations that are kept for the next sign-in, so that not each pays for a connection and a handshake. Each begins with the reader
signing in, so it is nobody's of before, and a reader who was shut out, or a line that has ended, is noticed there."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from portal.core import clock
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.errors import Trouble
from workspaces.identity.ldap.settings import Config

IDLE, OLDEST = (
    60.0,
    300.0,
)  # seconds without a sign-in; since it began, as names and certificates are judged then only
MOST = 16  # of all directories


@dataclass(frozen=True)
class _Kept:
    directory: Directory
    began: float
    since: float


_resting: list[_Kept] = []
_lock = threading.Lock()
os.register_at_fork(after_in_child=_resting.clear)  # what carries them stays with the parent


@contextmanager
def conversation(config: Config, seconds: float) -> Iterator[Directory]:
    """With whom these very options name. Kept afterwards, unless something went wrong in it. Raises Trouble."""
    until = clock.monotonic() + seconds
    directory, began = _kept(config, until) or (
        Directory(config, seconds).__enter__(),
        clock.monotonic(),
    )
    try:
        yield directory
    except BaseException:
        directory.close()
        raise
    _keep(directory, began)


def end_all() -> None:
    """For tests."""
    with _lock:
        while _resting:
            _resting.pop().directory.close()


def _kept(config: Config, until: float) -> tuple[Directory, float] | None:
    """One that goes on. Where one has ended, those beside it have too, and none is tried. Raises Trouble where the reader's password is wrong:
    on a new line it would be counted twice. Any other no is perhaps to signing in twice on one line, and asked again on a new one."""
    kept = _taken(config, 1)
    if not kept:
        return None
    try:
        kept[0].directory.go_on(max(0.1, until - clock.monotonic()))
        return kept[0].directory, kept[0].began
    except Trouble as trouble:
        for one in [*kept, *_taken(config, MOST)]:
            one.directory.close()
        if trouble.is_counted:
            raise
        return None


def _taken(config: Config, most: int) -> list[_Kept]:
    """The latest first."""
    with _lock:
        _drop_old()
        found = [one for one in reversed(_resting) if one.directory.config == config][:most]
        for one in found:
            _resting.remove(one)
        return found


def _keep(directory: Directory, began: float) -> None:
    now = clock.monotonic()
    with _lock:
        _drop_old()
        if len(_resting) < MOST and now - began < OLDEST and directory.rest(IDLE):
            _resting.append(_Kept(directory, began, now))
            return
    directory.close()


def _drop_old() -> None:
    now = clock.monotonic()
    old = [one for one in _resting if now - one.since >= IDLE or now - one.began >= OLDEST]
    for one in old:
        _resting.remove(one)
        one.directory.close()
