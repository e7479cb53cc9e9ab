"""Why a provider's answer is not accepted, in words."""

from __future__ import annotations

from requests import RequestException

from portal.core.outbound import Refused

NOT_BEGUN = "this sign-in was not begun here, or not in this browser, or too long ago"


def why_of(error: Exception | None, kind: object = None) -> str:
    """Of a failed request no more than that it failed: its text may hold what was sent."""
    if isinstance(error, RequestException) and not isinstance(error, Refused):
        return "it does not answer as it must"
    if error is not None and str(error):
        return str(error)[:300]
    return "you did not agree there" if kind == "cancelled" else NOT_BEGUN
