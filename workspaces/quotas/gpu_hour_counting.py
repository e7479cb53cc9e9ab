"""Add up GPU time once an attempt has ended."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction

from portal.core.ids import uuid7
from workspaces.models import GpuMonth
from workspaces.quotas.gpu_hours import GpuUsage, by_month


@transaction.atomic(savepoint=False)
def count(runs: Iterable[GpuUsage]) -> None:
    """Add runs to their months, in one query.

    The caller has cleared `has_reservation` of the attempts in the same transaction, so that nothing is
    counted twice. Rows are updated in one order to avoid deadlocks.
    """
    rows = [
        (uuid7(), org, scope, subject, month, n)
        for (org, scope, subject, month), n in sorted(by_month(runs).items())
    ]
    if not rows:
        return
    table = connection.ops.quote_name(GpuMonth._meta.db_table)
    into = f"INSERT INTO {table} (id, org_id, scope, subject_id, month, used)"
    key = "(org_id, scope, subject_id, month)"
    add = f"ON CONFLICT {key} DO UPDATE SET used = {table}.used + excluded.used"
    arrays = "%s::uuid[], %s::uuid[], %s::text[], %s::uuid[], %s::date[], %s::bigint[]"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"{into} SELECT * FROM unnest({arrays}) {add}",  # noqa: S608  names, no values
                [list(column) for column in zip(*rows, strict=True)],
            )
        else:
            cursor.executemany(
                f"{into} VALUES (%s, %s, %s, %s, %s, %s) {add}",
                [
                    (pk.hex, org.hex, scope, subject.hex, month.isoformat(), n)
                    for pk, org, scope, subject, month, n in rows
                ],
            )
