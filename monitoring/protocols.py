"""Protocols of this app."""

from __future__ import annotations

from portal.core.protocols import Authentication, Protocol

PROTOCOLS = (
    Protocol("/api/v1/agent/", Authentication.TOKEN, max_body=8 << 20),
    Protocol("/ws/", Authentication.TOKEN),
    *(
        Protocol(path, Authentication.TOKEN, error_body=None)
        for path in ("/healthz", "/readyz", "/metrics")
    ),
)
