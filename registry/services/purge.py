"""Delete what nobody needs any more. Called by a background task, so there is no actor."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from portal.core.trash import BY
from registry import storage
from registry.models import ModelVersion
from registry.services.records import TRASH, record_model
from registry.services.versions import PENDING

ABANDONED = timedelta(days=1)  # after the last file of an upload that nobody finished


def purge_trash(before: datetime) -> int:
    """Delete the models that were moved to the trash before a time; return their number."""
    return TRASH.purge_old(before)


def discard_abandoned(before: datetime) -> int:
    """Delete the uploads that got no file since a time; return their number."""
    rows = ModelVersion.objects.filter(status=PENDING, updated_at__lt=before)
    return sum(_discard(pk, before) for pk in list(rows.values_list("id", flat=True)))


@transaction.atomic
def _discard(pk: object, before: datetime) -> bool:
    locked = ModelVersion.objects.select_for_update(of=("self",)).select_related("model__team")
    row = locked.filter(id=pk, status=PENDING, updated_at__lt=before).first()
    if row is None:
        return False
    storage.release(row)
    facts = {"version": row.version, "status": row.status}
    record_model("upload_discarded", BY, row.model, before=facts)
    row.delete()
    return True
