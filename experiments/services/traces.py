"""Traces of programs that call models."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from experiments.models import Experiment, Trace
from experiments.services.experiments import lock
from workspaces.access.actors import Actor


@transaction.atomic
def save_trace(*, actor: Actor, experiment: Experiment, trace_id: str, **columns: Any) -> Trace:
    """Create a trace, or replace these columns of it. Raises NotPermitted, Conflict.

    A trace that is sent again stays in its experiment.
    """
    here = lock(actor, experiment)
    row, is_new = Trace.objects.get_or_create(
        org_id=here.org_id, trace_id=trace_id, defaults={"experiment": here, **columns}
    )
    if not is_new:
        lock(actor, row.experiment)
        for name, value in columns.items():
            setattr(row, name, value)
        row.save(update_fields=list(columns))
    return row  # type: ignore[no-any-return]
