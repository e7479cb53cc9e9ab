"""Translate directory errors into messages that say what to do."""

from __future__ import annotations

from typing import Any

from portal.core.messages import Message
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_types import ProviderUnavailable

FILTER = "filter"  # the field of an error in whichever filter was used


class DirectoryError(ProviderUnavailable):
    """A directory cannot be queried.

    `is_away`: it may work later; otherwise the configuration must change. `is_counted`: the server
    may count a retry as another failed login, and lock the account. `field` is the option that most
    likely causes it, or empty if that depends on what was asked.
    """

    def __init__(
        self, message: str, *, is_away: bool = False, is_counted: bool = False, field: str = ""
    ):
        super().__init__(message)
        self.is_away, self.is_counted, self.field = is_away, is_counted, field


def directory_error(error: Any, config: Config, doing: str) -> DirectoryError:
    """Translate a python-ldap error that occurred while `doing`, such as "searching below …"."""
    import ldap

    details = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    text = " ".join(str(details[key]) for key in ("desc", "info") if details.get(key)) or str(error)
    if isinstance(
        error, (ldap.SERVER_DOWN, ldap.CONNECT_ERROR, ldap.TIMEOUT, ldap.BUSY, ldap.UNAVAILABLE)
    ):
        return DirectoryError(
            Message(
                "The directory isn't responding while {doing}: {text}.", doing=doing, text=text
            ),
            is_away=True,
            field="url",
        )
    if isinstance(error, ldap.INVALID_CREDENTIALS):
        return DirectoryError(
            Message(
                "The directory rejected the bind DN {bind_dn}: the password is wrong or the DN "
                "doesn't exist. Enter the bind password again.",
                bind_dn=config.bind_dn,
            ),
            is_counted=True,
            field="bind_password",
        )
    if isinstance(error, ldap.NO_SUCH_OBJECT) and not config.bind_dn:
        return DirectoryError(
            Message(
                "Nothing can be read anonymously while {doing}. Enter a bind DN and its password.",
                doing=doing,
            ),
            field="bind_dn",
        )
    if isinstance(error, ldap.NO_SUCH_OBJECT):
        return DirectoryError(
            Message(
                "Nothing was found while {doing}: the DN doesn't exist, or the bind DN can't "
                "read it. Correct the search base.",
                doing=doing,
            )
        )
    if isinstance(error, ldap.INVALID_DN_SYNTAX):
        return DirectoryError(Message("Invalid DN while {doing}: {text}.", doing=doing, text=text))
    if isinstance(
        error,
        (
            ldap.INSUFFICIENT_ACCESS,
            ldap.INAPPROPRIATE_AUTH,
            ldap.STRONG_AUTH_REQUIRED,
            ldap.CONFIDENTIALITY_REQUIRED,
        ),
    ):
        return DirectoryError(
            Message(
                "Permission denied while {doing}: {text}. Use a bind DN that is allowed to search.",
                doing=doing,
                text=text,
            ),
            field="bind_dn",
        )
    if isinstance(
        error, (ldap.SIZELIMIT_EXCEEDED, ldap.ADMINLIMIT_EXCEEDED, ldap.TIMELIMIT_EXCEEDED)
    ):
        return DirectoryError(
            Message(
                "The directory truncated its response while {doing}: {text}. Raise the limit "
                "for the bind DN; partial results aren't used.",
                doing=doing,
                text=text,
            )
        )
    if isinstance(error, ldap.FILTER_ERROR):
        return DirectoryError(
            Message("The directory can't read the filter. Correct it."), field=FILTER
        )
    return DirectoryError(
        Message(
            "{__name__} while {doing}: {text}.",
            context="text, workspaces",
            __name__=type(error).__name__,
            doing=doing,
            text=text,
        ),
        is_away=isinstance(error, ldap.OPERATIONS_ERROR),
    )
