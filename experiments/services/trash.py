"""Delete permanently what has been in the trash for long enough."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from experiments import artifacts
from experiments.models import Experiment, LoggedModel, Run, Trace
from portal import series
from portal.core.events import EventRecord, record_all

_BATCH = 100


def purge(before: datetime) -> int:
    """Delete what was moved to the trash before; return the number of rows.

    Curves of a job's run stay with the job.
    """
    old = Q(deleted_at__lt=before) | Q(experiment__deleted_at__lt=before)
    number = 0
    while found := _purge_runs(old):
        number += found
    while found := _purge_logged_models(old):
        number += found
    while found := _purge_experiments(before):
        number += found
    return number


@transaction.atomic
def _purge_runs(old: Q) -> int:
    rows = list(_locked(Run.objects.filter(old)))
    artifacts.delete_all(rows)
    for row in rows:
        if row.job_id is None:
            series.delete(row.series_owner)
    _record("run.purged", "run", rows)
    Run.objects.filter(id__in=[row.id for row in rows]).delete()
    return len(rows)


@transaction.atomic
def _purge_logged_models(old: Q) -> int:
    rows = list(_locked(LoggedModel.objects.filter(old).select_related("experiment")))
    artifacts.delete_all(rows)
    _record("logged_model.purged", "logged-model", rows)
    LoggedModel.objects.filter(id__in=[row.id for row in rows]).delete()
    return len(rows)


@transaction.atomic
def _purge_experiments(before: datetime) -> int:
    rows = list(_locked(Experiment.objects.filter(deleted_at__lt=before)))
    Trace.objects.filter(experiment__in=rows).delete()
    _record("experiment.purged", "experiment", rows)
    Experiment.objects.filter(id__in=[row.id for row in rows]).delete()
    return len(rows)


def _locked(rows):  # type: ignore[no-untyped-def]
    return rows.select_for_update(of=("self",), skip_locked=True).order_by("id")[:_BATCH]


def _record(
    kind: str, subject: str, rows: list[Run] | list[LoggedModel] | list[Experiment]
) -> None:
    record_all(
        EventRecord(kind, row.org_id, subject, row.id, "trash", {"before": {"name": row.name}})
        for row in rows
    )
