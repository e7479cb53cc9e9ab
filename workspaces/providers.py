"""What this app answers to the kernel and to itself (docs/design/layout.md)."""

from __future__ import annotations

from workspaces.quotas.requests import KIND

APPROVAL_KINDS = (KIND,)
