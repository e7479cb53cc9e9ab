"""Many rows in one statement, where building them one by one as models costs more than the database does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, models

from portal.core.postgres.row_security import wall

Row = Sequence[Any]
_LOW = (1 << 64) - 1


def insert_rows(
    model: type[models.Model], names: Sequence[str], rows: Iterable[Row], *, is_new: bool = True
) -> None:
    """INSERT these values of these fields; fields left out take the database's own default, so name all that have none. By COPY
    on PostgreSQL, except where row-level security is. Not `is_new`: rows that are there already, by any unique constraint, are left
    as they are. Runs in the caller's transaction; no signal, no primary key comes back."""
    fields = [_field(model, name) for name in names]
    quote = connection.ops.quote_name
    table, columns = (
        quote(model._meta.db_table),
        ", ".join(quote(str(field.column)) for field in fields),
    )
    otherwise = "" if is_new else " ON CONFLICT DO NOTHING"
    if connection.vendor == "postgresql" and (model._meta.db_table in wall.tables or not is_new):
        if found := list(rows):
            _insert_arrays(table, columns, fields, found, otherwise)
        return
    if connection.vendor == "postgresql":
        shapes = [_shape(field) for field in fields]
        with (
            connection.wrap_database_errors,
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(
                    [
                        shape(value) if shape else value
                        for shape, value in zip(shapes, row, strict=True)
                    ]
                )
        return
    marks = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({marks}){otherwise}",  # noqa: S608  names, no values
            [
                [
                    field.get_db_prep_save(value, connection)
                    for field, value in zip(fields, row, strict=True)
                ]
                for row in rows
            ],
        )


def _insert_arrays(
    table: str,
    columns: str,
    fields: Sequence[models.Field[Any, Any]],
    rows: Sequence[Row],
    otherwise: str,
) -> None:
    """Where row-level security is, PostgreSQL takes no COPY: one INSERT of an array for each column instead, or of one value where it is the
    same in all rows. The first column is an array in any case."""
    differs = [n == 0 or not _are_same([row[n] for row in rows]) for n in range(len(fields))]
    types = [_type(field) for field in fields]
    selected = ", ".join(f"v.c{n}" if does else f"%s::{types[n]}" for n, does in enumerate(differs))
    arrays = ", ".join(f"%s::{types[n]}[]" for n, does in enumerate(differs) if does)
    names = ", ".join(f"c{n}" for n, does in enumerate(differs) if does)
    single = [
        field.get_db_prep_save(rows[0][n], connection)
        for n, field in enumerate(fields)
        if not differs[n]
    ]
    many = [
        [field.get_db_prep_save(row[n], connection) for row in rows]
        for n, field in enumerate(fields)
        if differs[n]
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns}) SELECT {selected} FROM unnest({arrays}) AS v ({names}){otherwise}",  # noqa: S608  names, no values
            [*single, *many],
        )


def _type(field: models.Field[Any, Any]) -> str:
    """Without its length: a cast to `varchar(64)` would cut off in silence what the column refuses."""
    return str(field.cast_db_type(connection)).partition("(")[0]


def _are_same(values: Sequence[Any]) -> bool:
    """The very same object, or equals of a kind that is written alike (inside of a list, True equals 1)."""
    first = values[0]
    return all(
        value is first or (not isinstance(first, dict | list) and value == first)
        for value in values
    )


def repeat_row(first: models.Model, counter: str, times: int) -> None:
    """`times` more rows like `first`, which is in the table with a random version-7 UUID: `counter` goes on by one from row to row,
    and so does the key's random part, so that the keys sort like the counter. One statement on PostgreSQL."""
    model = type(first)
    names = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    start, key = getattr(first, counter), first.pk.int
    if connection.vendor != "postgresql":
        values = [getattr(first, name) for name in names]
        rows = (
            [
                UUID(int=key + n),
                *(
                    start + n if name == counter else value
                    for name, value in zip(names, values, strict=True)
                ),
            ]
            for n in range(1, times + 1)
        )
        insert_rows(model, ["id", *names], rows)
        return
    quote = connection.ops.quote_name
    table, counted = quote(model._meta.db_table), quote(_column(model, counter))
    columns = ", ".join(quote(_column(model, name)) for name in names)
    copied = ", ".join(
        f"{counted} + n" if name == counter else quote(_column(model, name)) for name in names
    )
    low = (key & _LOW) - (1 << 64)  # as a signed number, which to_hex prints the same
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (id, {columns}) "  # noqa: S608  names, no values
            f"SELECT (%s || lpad(to_hex(%s + n), 16, '0'))::uuid, {copied} FROM {table}, generate_series(1, %s) AS n WHERE id = %s",
            [f"{key >> 64:016x}", low, times, first.pk],
        )


def _column(model: type[models.Model], name: str) -> str:
    return str(_field(model, name).column)


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    found = model._meta.get_field(name)
    assert isinstance(found, models.Field)
    return found


def _shape(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """How a value is written in COPY, where that is not what psycopg does by itself."""
    return json.dumps if isinstance(field, models.JSONField) else None
