"""Say which stored files the registry uses, for the sweep of `portal.blobs.files`."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from registry.models import ModelFile


def referenced(org_id: UUID, names: Collection[str]) -> set[str]:
    """Return those SHA-256 to which files of versions refer."""
    rows = ModelFile.objects.filter(org_id=org_id, sha256__in=names)
    return set(rows.values_list("sha256", flat=True))
