"""Hold and settle resources on meters.

Meters are locked in one order before they are read, so that concurrent admissions cannot take the
same last GPU, or another's guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection, transaction

from workspaces.models import Quota
from workspaces.quotas.limits import (
    Amounts,
    Meter,
    QuotaUsage,
    first_full_meter,
    meters,
    meters_after,
    unit_of,
)

__all__ = ["Meter", "count", "hold", "meters", "quota_usage_of", "settle", "unit_of"]


@transaction.atomic(savepoint=False)
def hold(amounts: Amounts) -> Meter | None:
    """Hold all amounts or none. Returns the meter without room, else None.

    Two queries for any number of meters. They stay locked until the caller's transaction ends.
    """
    _ensure(amounts)
    rows = _locked(amounts)
    if len(rows) < len(amounts):
        # The cached rows are gone, as after a restore or in a test
        _make(meter for meter in amounts if meter not in rows)
        rows = _locked(amounts)
    refused = first_full_meter({meter: quota_usage_of(row) for meter, row in rows.items()}, amounts)
    if refused is None:
        _move(rows, amounts)
    return refused


@transaction.atomic(savepoint=False)
def settle(amounts: Amounts) -> None:
    """Release amounts.

    The caller has cleared `has_reservation` of the attempt in the same transaction, so that nothing is
    released twice.
    """
    _move(_locked(amounts), {meter: -amount for meter, amount in amounts.items()})


@transaction.atomic(savepoint=False)
def count(amounts: Amounts) -> None:
    """Hold amounts even beyond the limit: they are already in use.

    The caller marks them as counted in the same transaction; `settle` releases them.
    """
    if amounts:
        _move(lock(amounts), amounts)


def quota_usage_of(row: Quota) -> QuotaUsage:
    """Return the state of a row."""
    return QuotaUsage(row.used, row.limit, row.guaranteed, row.promised)


def meter_of(row: Quota) -> Meter:
    """Return the key of a row."""
    return Meter(row.org_id, row.scope, row.subject_id, row.resource)


def _locked(wanted: Iterable[Meter]) -> dict[Meter, Quota]:
    """Lock rows until the transaction ends, in order of their ids to avoid deadlocks."""
    requested = set(wanted)
    rows = (
        Quota.objects.select_for_update()
        .order_by("id")
        .filter(
            org_id__in={m.org_id for m in requested},
            subject_id__in={m.subject_id for m in requested},
            resource__in={m.resource for m in requested},
        )
    )
    return {meter: row for row in rows if (meter := meter_of(row)) in requested}


def _move(rows: Mapping[Meter, Quota], amounts: Amounts) -> None:
    """Write what locked rows hold."""
    moved = meters_after({meter: quota_usage_of(row) for meter, row in rows.items()}, amounts)
    write([(rows[meter], now) for meter, now in moved.items()])


def write(standings: Iterable[tuple[Quota, QuotaUsage]]) -> None:
    """Write `used` and `promised` of rows locked by the caller, in one query."""
    rows = [(row.pk, now.used, now.promised) for row, now in standings]
    if not rows:
        return
    table = connection.ops.quote_name(Quota._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"UPDATE {table} AS t SET used = v.used, promised = v.promised "  # noqa: S608  a name, no values
                "FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[]) AS v (id, used, promised) "
                "WHERE t.id = v.id",
                [list(column) for column in zip(*rows, strict=True)],
            )
        else:
            cursor.executemany(
                f"UPDATE {table} SET used = %s, promised = %s WHERE id = %s",  # noqa: S608  a name, no values
                [(used, promised, _plain(pk)) for pk, used, promised in rows],
            )


def _plain(pk: Any) -> Any:
    return Quota._meta.get_field("id").get_db_prep_value(pk, connection)


def lock(wanted: Iterable[Meter]) -> dict[Meter, Quota]:
    """Return the rows of meters, created if missing, and locked until the transaction ends."""
    meters_wanted = list(wanted)
    _make(meters_wanted)
    return _locked(meters_wanted)


_known: set[tuple[str, Meter]] = set()


def _ensure(wanted: Iterable[Meter]) -> None:
    """Create missing rows. Cached per process and database, because rows are never deleted."""
    database = str(connection.settings_dict["NAME"])
    fresh = [m for m in wanted if (database, m) not in _known]
    if not fresh:
        return
    _make(fresh)
    transaction.on_commit(lambda: _known.update((database, m) for m in fresh))


def _make(fresh: Iterable[Meter]) -> None:
    Quota.objects.bulk_create(
        [
            Quota(org_id=m.org_id, scope=m.scope, subject_id=m.subject_id, resource=m.resource)
            for m in sorted(fresh, key=_order)
        ],
        ignore_conflicts=True,
    )


def _order(meter: Meter) -> tuple[str, str, str]:
    """Order rows to avoid deadlocks between concurrent inserts."""
    return (str(meter.subject_id), meter.scope, meter.resource)
