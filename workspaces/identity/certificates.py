"""Certificates of authorities that people paste into forms."""

from __future__ import annotations

import ssl
from functools import lru_cache

from portal.core.messages import Message


@lru_cache(maxsize=64)
def certificate_fault(text: str) -> str:
    """Return why this cannot be the certificates of an authority (PEM), or nothing."""
    if not text:
        return ""
    if "BEGIN CERTIFICATE" not in text:
        return Message("must be a PEM certificate that begins with -----BEGIN CERTIFICATE-----")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        return Message(
            "can't be read; paste all of it, from -----BEGIN CERTIFICATE----- to the end"
        )
    return ""
