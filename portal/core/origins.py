"""Origins of addresses."""

from __future__ import annotations

from urllib.parse import urlsplit


def origin_of(url: str) -> str:
    """Scheme, host and port, as the browser's security policies write them; of an app's own scheme that scheme alone."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
