"""Writing many rows that differ, in one round trip: `bulk_update` builds CASE trees that cost more than the database does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, models


def write_rows(rows: Sequence[models.Model], fields: Sequence[str]) -> None:
    """UPDATE each row's `fields` to what the object holds. The rows are locked by the caller's transaction."""
    if not rows:
        return
    meta = type(rows[0])._meta
    columns = [_field(meta.get_field(name)) for name in fields]
    quote = connection.ops.quote_name
    sets = ", ".join(f"{quote(str(field.column))} = %s" for field in columns)
    key = _field(meta.pk)
    sql = f"UPDATE {quote(meta.db_table)} SET {sets} WHERE {quote(str(key.column))} = %s"  # noqa: S608  names, no values
    with connection.cursor() as cursor:
        cursor.executemany(sql, [[_stored(field, row) for field in (*columns, key)] for row in rows])


def _field(found: object) -> models.Field[Any, Any]:
    assert isinstance(found, models.Field)
    return found


def _stored(field: models.Field[Any, Any], row: models.Model) -> Any:
    return field.get_db_prep_save(getattr(row, field.attname), connection)
