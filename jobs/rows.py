"""Writing many rows that differ, in few round trips: `bulk_update` builds CASE trees that cost more than the database does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import connection, models

FEW = 8         # different sets of values up to which one UPDATE for each is cheaper than one for each row


def write_rows(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """UPDATE each row's fields to what the object holds. The rows are locked by the caller's transaction. Rows that get the same
    values, as tasks of an array mostly do, are written by one statement."""
    if not rows:
        return
    meta = type(rows[0])._meta
    fields = [_field(meta.get_field(name)) for name in names]
    alike: dict[tuple[Any, ...], list[models.Model]] = defaultdict(list)
    for row in rows:
        alike[tuple(_plain(getattr(row, field.attname)) for field in fields)].append(row)
    quote = connection.ops.quote_name
    sets = ", ".join(f"{quote(str(field.column))} = %s" for field in fields)
    update = f"UPDATE {quote(meta.db_table)} SET {sets} WHERE {quote(str(_field(meta.pk).column))}"  # noqa: S608  names, no values
    many = list(alike.values())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and len(many) <= max(FEW, len(rows) // FEW):
            for same in many:
                cursor.execute(f"{update} = ANY(%s)", [*_values(same[0], fields), [row.pk for row in same]])
        else:
            key = _field(meta.pk)
            cursor.executemany(f"{update} = %s", [[*_values(row, fields), *_values(row, [key])] for row in rows])


def _field(found: object) -> models.Field[Any, Any]:
    assert isinstance(found, models.Field)
    return found


def _values(row: models.Model, fields: Sequence[models.Field[Any, Any]]) -> list[Any]:
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]


def _plain(value: Any) -> Any:
    """Something hashable that is equal where the values are."""
    return repr(value) if isinstance(value, dict | list) else value
