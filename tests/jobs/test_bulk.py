"""Bulk writes and loads of rows, for any number of distinct values."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DataError, transaction

from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.bulk_updates import attach, write_rows
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

NAMES = (
    "state_at",
    "lease",
    "placement",
    "evidence",
    "exit_code",
    "has_reservation",
    "peak_memory",
    "native_id",
)


@pytest.mark.both_databases
@pytest.mark.parametrize("kinds", [1, 3, 12])
def test_write_rows_sets_each_row_and_changes_no_other(story, kinds):
    cluster_with()
    job, bystander = submit(story, array=12), submit(story)
    at = clock.now()
    with platform_scope("test"):
        untouched = Attempt.objects.filter(job=bystander).values(*NAMES).get()
        rows = list(Attempt.objects.filter(job=job).order_by("index"))
        for n, row in enumerate(rows):
            _fill(row, n % kinds, at)
        wanted = [[getattr(row, name) for name in NAMES] for row in rows]
        write_rows(rows, NAMES)
        assert [
            list(values)
            for values in Attempt.objects.filter(job=job).order_by("index").values_list(*NAMES)
        ] == wanted
        assert Attempt.objects.filter(job=bystander).values(*NAMES).get() == untouched


@pytest.mark.both_databases
@pytest.mark.parametrize("kinds", [1, 12])
def test_write_rows_refuses_too_long_values_without_truncation(story, kinds):
    cluster_with()
    job = submit(story, array=12)
    with platform_scope("test"):
        rows = list(Attempt.objects.filter(job=job).order_by("index"))
        for n, row in enumerate(rows):
            row.native_id = "x" * 300 + str(n % kinds)
        # PostgreSQL refuses it, SQLite stores it untruncated.
        with (
            suppress(DataError),
            transaction.atomic(),
        ):
            write_rows(rows, NAMES)
        kept = set(Attempt.objects.filter(job=job).values_list("native_id", flat=True))
    assert kept in ({""}, {row.native_id for row in rows})


def _fill(row: Attempt, kind: int, at) -> None:
    """Set every type of column, with quotes and braces in texts, and nulls in every other kind."""
    row.has_reservation, row.state_at = kind % 2 == 0, at + timedelta(microseconds=kind)
    row.evidence, row.native_id = (
        f'{kind} "quoted", \\ {{braces}} NULL',
        "" if kind % 2 else f"native {kind}",
    )
    row.placement = None if kind % 2 else {"node": f"n{kind}", "gpus": [kind], "uuids": ['a "b"']}
    row.exit_code, row.peak_memory = (None, None) if kind % 2 else (kind, (1 << 40) + kind)
    row.lease = None if kind % 2 else _LEASES[kind]


_LEASES = [uuid4() for _ in range(12)]


def test_attach_loads_shared_targets_once_as_one_object(story, django_assert_num_queries):
    cluster_with()
    for _ in range(3):
        submit(story)
    with platform_scope("test"):
        jobs = list(Job.objects.all())
        with django_assert_num_queries(2):
            # No job has a pool, which is known without a query.
            attach(jobs, "team", "owner", "pool")
            attach(jobs, "team", "owner", "pool")
            assert {(job.team.slug, job.owner.email, job.pool) for job in jobs} == {
                (jobs[0].team.slug, jobs[0].owner.email, None)
            }
        assert jobs[0].team is jobs[2].team
    attach([], "team")
