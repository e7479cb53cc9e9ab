"""Parse origins from URLs."""

from __future__ import annotations

from urllib.parse import urlsplit


def origin_of(url: str) -> str:
    """Return scheme, host and port as security policies write them, or only an app's own scheme."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
