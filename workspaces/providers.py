"""What this app answers to its own registries and the layers below (docs/design/layout.md)."""

from __future__ import annotations

from workspaces.quotas.requests import KIND

APPROVAL_KINDS = (KIND,)
