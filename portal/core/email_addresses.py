"""The one rule for e-mail addresses, wherever one is typed, imported or sent by a provider."""

from __future__ import annotations

import re
from typing import Any

# Wide on purpose: RFC 5322 allows an apostrophe and most other signs before the @.
_ADDRESS = re.compile(r"[^@\s\x00-\x1f<>\"]{1,64}@[a-z0-9.-]{1,185}")


def normalized_email(value: Any) -> str:
    """Return the address in lower case, or "" if the value isn't an address."""
    email = value.strip().lower() if isinstance(value, str) else ""
    return email if _ADDRESS.fullmatch(email) and email.isprintable() else ""
