"""What is not there for a while told apart from what is broken: a full disk, or a database that does not answer."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError

from portal.core.disk import behind, full_disk
from portal.core.errors import Unavailable

RETRY_AFTER = 5  # seconds
_STATES = {
    "57P01",
    "57P02",
    "57P03",
    "53300",
}  # it shuts down, crashed, starts up, or has no connection left


def outage(error: BaseException | None) -> Unavailable | None:
    """What to tell when this error, or one behind it, is an outage that passes; else None."""
    if full := full_disk(error):
        return full
    if any(_is_away(one) for one in behind(error)):
        return Unavailable(
            "The database does not answer, so nothing was changed. Try again in a moment.",
            code="database_away",
            data={"retry_after": RETRY_AFTER},
        )
    return None


def _is_away(error: BaseException) -> bool:
    """PostgreSQL's connection could not be made, or was lost: only then is there no code of the server, or one of these."""
    if not isinstance(error, OperationalError | InterfaceError) or not hasattr(
        error.__cause__, "sqlstate"
    ):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state in _STATES or state.startswith("08")
