"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from datasets import selectors, space_sources
from datasets.folders import space_sources as folders

FILE_REFERENCES = (selectors.referenced,)
SPACE_SOURCES = (*space_sources.SOURCES, folders.SOURCE)
