"""Explain why a provider's answer is rejected."""

from __future__ import annotations

from requests import RequestException

from portal.core.outbound import RequestRefused

NOT_BEGUN = "this sign-in wasn't started in this browser, or it has expired"


def why_of(error: Exception | None, kind: object = None) -> str:
    """Return the reason; a failed request gives no details, as its text may contain sent data."""
    if isinstance(error, RequestException) and not isinstance(error, RequestRefused):
        return "it isn't responding correctly"
    if error is not None and str(error):
        return str(error)[:300]
    return "you denied access there" if kind == "cancelled" else NOT_BEGUN
