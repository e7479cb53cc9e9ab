"""Checkpoints of simulated jobs: saved through the services by which real jobs report theirs."""

from __future__ import annotations

import random
import threading
from contextlib import suppress
from datetime import timedelta

from django.db.models import QuerySet

from datasets import services
from demo.backend import SimulatedCluster
from demo.datasets import weights
from demo.recipes import SLUG
from jobs.models import Attempt, JobOutput
from jobs.saving.reports import open_output, save_reported
from jobs.saving.versions import actor_for
from portal.background import every
from portal.core import clock
from portal.core.errors import PortalError
from schedulers.states import State
from workspaces.models import Organization
from workspaces.tenancy.scope import org_scope

PAUSE, LOOK = timedelta(minutes=20), 30.0  # between two saves of a running job; seconds
STEPS = 3  # a second, as `SimulatedAttempt.points` logs them
_CONFIG = {"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "torch_dtype": "float32"}


def save(attempts: QuerySet[Attempt]) -> None:
    """Save what running jobs have written by now to their outputs."""
    for attempt in attempts.select_related("job__org", "job__team", "job__owner", "cluster"):
        with org_scope(attempt.org_id):
            rows = JobOutput.objects.filter(attempt=attempt)
            for row in rows.select_related("version", "repository__team"):
                row.job, row.attempt = attempt.job, attempt
                _save(row, attempt)


def _save(row: JobOutput, attempt: Attempt) -> None:
    actor = actor_for(attempt)
    repository = open_output(actor=actor, row=row)
    elapsed = clock.now() - (attempt.started_at or clock.now())
    made = weights(round(elapsed.total_seconds()) * STEPS, config=_CONFIG)
    files = {
        path: services.put_file(
            actor=actor, repository=repository, chunks=[data], size=len(data)
        ).sha256
        for path, data in made(random.Random(attempt.key)).items()
    }
    # At the end there is nothing more: no program of the job is left that could report it.
    save_reported(actor=actor, row=row, files=files, is_end=True)


@every(LOOK)
def feed(_stop: threading.Event) -> None:
    """Save the outputs of running jobs whose last save is a while ago.

    While a replay hides the cluster, its jobs are of the past: an event of now among theirs would
    break the order of the audit trail.
    """
    org = Organization.objects.filter(slug=SLUG).first()
    if org is None:
        return
    with org_scope(org.id):
        rows = JobOutput.objects.filter(
            attempt__state=State.RUNNING,
            attempt__cluster__backend=SimulatedCluster.name,
            attempt__cluster__is_enabled=True,
        )
        due = rows.exclude(saved_at__gt=clock.now() - PAUSE).values_list("attempt_id", flat=True)
        with suppress(PortalError):  # such as a full disk
            save(Attempt.objects.filter(id__in=list(due[:20])))
