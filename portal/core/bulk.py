"""Many rows in one statement, where building them one by one as models costs more than the database does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import connection, models

Row = Sequence[Any]


def insert_rows(model: type[models.Model], names: Sequence[str], rows: Iterable[Row]) -> None:
    """INSERT these values of these fields; fields left out take the database's own default, so name all that have none. By COPY
    on PostgreSQL. Runs in the caller's transaction; no signal, no primary key comes back."""
    fields = [_field(model, name) for name in names]
    quote = connection.ops.quote_name
    table, columns = quote(model._meta.db_table), ", ".join(quote(str(field.column)) for field in fields)
    if connection.vendor == "postgresql":
        shapes = [_shape(field) for field in fields]
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row([shape(value) if shape else value for shape, value in zip(shapes, row, strict=True)])
        return
    marks = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})",  # noqa: S608  names, no values
            [[field.get_db_prep_save(value, connection) for field, value in zip(fields, row, strict=True)] for row in rows])


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    found = model._meta.get_field(name)
    assert isinstance(found, models.Field)
    return found


def _shape(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """How a value is written in COPY, where that is not what psycopg does by itself."""
    return json.dumps if isinstance(field, models.JSONField) else None
