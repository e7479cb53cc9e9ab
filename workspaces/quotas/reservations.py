"""Holding and settling resources. Who moves meters locks them first, all in one order, and looks at what it locked: no two
admissions can take the same last GPU, nor what is kept for somebody's guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection, transaction

from workspaces.models import Quota
from workspaces.quotas.limits import Amounts, Meter, Standing, after, meters, refusal, unit_of

__all__ = ["Meter", "count", "hold", "meters", "settle", "standing_of", "unit_of"]


@transaction.atomic(savepoint=False)
def hold(amounts: Amounts) -> Meter | None:
    """Take all of these or none; the meter that refused, else None. Two statements, however many meters: lock, and write. The
    caller's transaction keeps them locked until it ends."""
    _ensure(amounts)
    rows = _locked(amounts)
    if len(rows) < len(amounts):
        _make(
            meter for meter in amounts if meter not in rows
        )  # gone with its database (a restore, a test)
        rows = _locked(amounts)
    refused = refusal({meter: standing_of(row) for meter, row in rows.items()}, amounts)
    if refused is None:
        _move(rows, amounts)
    return refused


@transaction.atomic(savepoint=False)
def settle(amounts: Amounts) -> None:
    """Give back. The caller has flipped the attempt's `is_held` in the same transaction, so nothing is given back twice."""
    _move(_locked(amounts), {meter: -amount for meter, amount in amounts.items()})


@transaction.atomic(savepoint=False)
def count(amounts: Amounts) -> None:
    """Add what is held whether there is room or not: it is there already. The caller has written down in the same transaction that it is
    counted, so it is counted once; `settle` gives it back."""
    if amounts:
        _move(lock(amounts), amounts)


def standing_of(row: Quota) -> Standing:
    """A row as the rules see it."""
    return Standing(row.used, row.limit, row.guaranteed, row.promised)


def meter_of(row: Quota) -> Meter:
    """Whose row it is."""
    return Meter(row.org_id, row.scope, row.subject_id, row.resource)


def _locked(wanted: Iterable[Meter]) -> dict[Meter, Quota]:
    """Nobody else moves these until the transaction ends. Everybody locks in the order of ids, so that no two wait in a ring."""
    asked = set(wanted)
    rows = (
        Quota.objects.select_for_update()
        .order_by("id")
        .filter(
            org_id__in={m.org_id for m in asked},
            subject_id__in={m.subject_id for m in asked},
            resource__in={m.resource for m in asked},
        )
    )
    return {meter: row for row in rows if (meter := meter_of(row)) in asked}


def _move(rows: Mapping[Meter, Quota], amounts: Amounts) -> None:
    """Write what the locked rows hold from now on."""
    moved = after({meter: standing_of(row) for meter, row in rows.items()}, amounts)
    write([(rows[meter], now) for meter, now in moved.items()])


def write(standings: Iterable[tuple[Quota, Standing]]) -> None:
    """`used` and `promised` of rows that the caller has locked, in one statement."""
    rows = [(row.pk, now.used, now.promised) for row, now in standings]
    if not rows:
        return
    table = connection.ops.quote_name(Quota._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"UPDATE {table} AS t SET used = v.used, promised = v.promised "  # noqa: S608  a name, no values
                "FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[]) AS v (id, used, promised) WHERE t.id = v.id",
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
    """The rows of these meters, made where they are not there yet, and locked until the transaction ends."""
    meters_wanted = list(wanted)
    _make(meters_wanted)
    return _locked(meters_wanted)


_known: set[tuple[str, Meter]] = set()


def _ensure(wanted: Iterable[Meter]) -> None:
    """Make the rows that are not there yet; remembered per process and database, for rows of quotas are never deleted."""
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
    """One order for everybody, so that two who make the same rows never wait for each other in a ring."""
    return (str(meter.subject_id), meter.scope, meter.resource)
