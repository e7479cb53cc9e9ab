"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from sessions.kind import SESSION, SESSION_ORIGIN

JOB_ORIGINS = (SESSION_ORIGIN,)
WORKLOAD_KINDS = (SESSION,)
