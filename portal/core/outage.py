"""Recognize temporary outages: a full disk, or a database that does not respond or is busy."""

from __future__ import annotations

import sqlite3

from django.db import InterfaceError, OperationalError

from portal.core.disk import error_chain, full_disk
from portal.core.errors import Unavailable
from portal.core.messages import Message

RETRY_AFTER = 5  # seconds
BUSY_RETRY_AFTER = 2
# The server shuts down, crashed, starts up, or has no connections left.
_SQLSTATES = {
    "57P01",
    "57P02",
    "57P03",
    "53300",
}


def outage(error: BaseException | None) -> Unavailable | None:
    """Return the error to raise if this error, or one in its chain, is temporary; else None."""
    if full := full_disk(error):
        return full
    if any(_is_busy(one) for one in error_chain(error)):
        return Unavailable(
            Message("The database is busy, so nothing was changed. Try again in a moment."),
            code="database_busy",
            data={"retry_after": BUSY_RETRY_AFTER},
        )
    if any(_is_disconnected(one) for one in error_chain(error)):
        return Unavailable(
            Message(
                "The database is not responding, so nothing was changed. Try again in a moment."
            ),
            code="database_away",
            data={"retry_after": RETRY_AFTER},
        )
    return None


def _is_busy(error: BaseException) -> bool:
    """Return whether another process kept SQLite's lock for longer than its timeout."""
    name = getattr(error, "sqlite_errorname", "")
    return isinstance(error, sqlite3.Error) and name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _is_disconnected(error: BaseException) -> bool:
    """Return whether the connection to PostgreSQL failed or was lost.

    Such errors have no SQLSTATE, or one of class 08, or one of `_SQLSTATES`.
    """
    if not isinstance(error, OperationalError | InterfaceError) or not hasattr(
        error.__cause__, "sqlstate"
    ):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state in _SQLSTATES or state.startswith("08")
