"""Delete series with all that is stored of them."""

from __future__ import annotations

from django.db import transaction

from portal.series.batches import delete_batches
from portal.series.models import Chunk, Series


@transaction.atomic
def delete(owner: str) -> None:
    """Delete all series of an owner."""
    delete_batches(owner)
    ids = list(
        Series.objects.select_for_update().filter(owner=owner).order_by("id").values_list("id")
    )
    Chunk.objects.filter(series__in=[pk for (pk,) in ids]).delete()
    Series.objects.filter(id__in=[pk for (pk,) in ids]).delete()
