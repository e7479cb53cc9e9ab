"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from registry import references, space_sources
from registry.services.approval import KIND

APPROVAL_KINDS = (KIND,)
FILE_REFERENCES = (references.referenced,)
SPACE_SOURCES = (space_sources.SOURCE,)
