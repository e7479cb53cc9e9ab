"""What goes wrong with a directory, in words that say what to do."""

from __future__ import annotations

from typing import Any

from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_types import Away


class Trouble(Away):
    """The directory cannot be asked. `is_away`: it may answer later; else somebody has to change something. `is_counted`: it may shut out
    who says the same again."""

    def __init__(self, message: str, *, is_away: bool = False, is_counted: bool = False):
        super().__init__(message)
        self.is_away, self.is_counted = is_away, is_counted


def explained(error: Any, config: Config, doing: str) -> Trouble:
    """An error of python-ldap while `doing` ("connecting", "signing in as the reader", "searching below …")."""
    import ldap

    told = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    text = " ".join(str(told[key]) for key in ("desc", "info") if told.get(key)) or str(error)
    if isinstance(
        error, (ldap.SERVER_DOWN, ldap.CONNECT_ERROR, ldap.TIMEOUT, ldap.BUSY, ldap.UNAVAILABLE)
    ):
        return Trouble(f"It does not answer while {doing}: {text}.", is_away=True)
    if isinstance(error, ldap.INVALID_CREDENTIALS):
        return Trouble(
            f"It refused the reader {config.bind_dn}: wrong password, or no such DN. Enter the reader's password again.",
            is_counted=True,
        )
    if isinstance(error, ldap.NO_SUCH_OBJECT):
        return Trouble(
            f"There is nothing there while {doing}: the DN does not exist, or the reader may not see it."
        )
    if isinstance(error, ldap.INVALID_DN_SYNTAX):
        return Trouble(f"A DN is not well-formed while {doing}: {text}.")
    if isinstance(
        error,
        (
            ldap.INSUFFICIENT_ACCESS,
            ldap.INAPPROPRIATE_AUTH,
            ldap.STRONG_AUTH_REQUIRED,
            ldap.CONFIDENTIALITY_REQUIRED,
        ),
    ):
        return Trouble(
            f"It does not let the reader do this while {doing}: {text}. Give a reader that may search."
        )
    if isinstance(
        error, (ldap.SIZELIMIT_EXCEEDED, ldap.ADMINLIMIT_EXCEEDED, ldap.TIMELIMIT_EXCEEDED)
    ):
        return Trouble(
            f"It cut its answer short while {doing}: {text}. Raise its limit for the reader; half an answer is not used."
        )
    if isinstance(error, ldap.FILTER_ERROR):
        return Trouble("A filter is not well-formed: look at the ones under More.")
    return Trouble(
        f"{type(error).__name__} while {doing}: {text}.",
        is_away=isinstance(error, ldap.OPERATIONS_ERROR),
    )
