"""Delete what nobody needs any more. Called by a background task, so there is no actor."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from portal.core.events import EventRecord, record
from registry import storage
from registry.models import ModelVersion, RegisteredModel
from registry.services.versions import PENDING

ABANDONED = timedelta(days=1)  # after the last file of an upload that nobody finished
BY = "muster"


def purge_trash(before: datetime) -> int:
    """Delete the models that were moved to the trash before a time; return their number."""
    ids = RegisteredModel.objects.filter(deleted_at__lt=before).values_list("id", flat=True)
    return sum(_purge(pk, before) for pk in list(ids))


def discard_abandoned(before: datetime) -> int:
    """Delete the uploads that got no file since a time; return their number."""
    rows = ModelVersion.objects.filter(status=PENDING, updated_at__lt=before)
    return sum(_discard(pk, before) for pk in list(rows.values_list("id", flat=True)))


@transaction.atomic
def _purge(pk: object, before: datetime) -> bool:
    locked = RegisteredModel.objects.select_for_update(of=("self",)).select_related("team")
    row = locked.filter(id=pk, deleted_at__lt=before).first()
    if row is None:  # restored in the meantime
        return False
    versions = list(ModelVersion.objects.filter(model=row).select_related("model"))
    for version in versions:
        storage.release(version)
    _record("model.purged", row, {"versions": len(versions)})
    row.delete()
    return True


@transaction.atomic
def _discard(pk: object, before: datetime) -> bool:
    locked = ModelVersion.objects.select_for_update(of=("self",)).select_related("model__team")
    row = locked.filter(id=pk, status=PENDING, updated_at__lt=before).first()
    if row is None:
        return False
    storage.release(row)
    _record("model.upload_discarded", row.model, {"version": row.version, "status": row.status})
    row.delete()
    return True


def _record(kind: str, model: RegisteredModel, before: dict[str, object]) -> None:
    named = {"name": model.name, "team": model.team.slug, "before": before}
    record(EventRecord(kind, model.org_id, "model", model.id, BY, named))
