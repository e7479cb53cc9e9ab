"""Insert many rows in one statement, without the cost of one model instance per row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection, models

from portal.core.message_fields import MessageField
from portal.core.postgres.row_security import row_security

Row = Sequence[Any]
_LOW = (1 << 64) - 1


def insert_rows(
    model: type[models.Model], names: Sequence[str], rows: Iterable[Row], *, is_new: bool = True
) -> None:
    """Insert rows given as values of the named fields, in the caller's transaction.

    Fields left out take the database default, so name all that have none. With `is_new=False`, rows
    that violate a unique constraint are skipped. Uses COPY on PostgreSQL, except on tables with
    row-level security. Sends no signals and returns no primary keys.
    """
    fields = [_field(model, name) for name in names]
    quote = connection.ops.quote_name
    table, columns = (
        quote(model._meta.db_table),
        ", ".join(quote(str(field.column)) for field in fields),
    )
    otherwise = "" if is_new else " ON CONFLICT DO NOTHING"
    if connection.vendor == "postgresql" and (
        model._meta.db_table in row_security.tables or not is_new
    ):
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
            f"INSERT INTO {table} ({columns}) VALUES ({marks}){otherwise}",  # noqa: S608  # identifiers only
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
    """Insert with one array per column, because COPY does not support row-level security.

    A column with the same value in all rows is sent as a single value. The first column is always
    an array.
    """
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
            f"INSERT INTO {table} ({columns}) SELECT {selected} FROM unnest({arrays}) AS v ({names}){otherwise}",  # noqa: S608  # identifiers only
            [*single, *many],
        )


def _type(field: models.Field[Any, Any]) -> str:
    """Return the type without its length: a cast to `varchar(64)` would silently truncate."""
    return str(field.cast_db_type(connection)).partition("(")[0]


def _are_same(values: Sequence[Any]) -> bool:
    """Return whether all values are stored alike.

    Lists and dicts are compared by identity, because True equals 1 inside them.
    """
    first = values[0]
    return all(
        value is first or (not isinstance(first, dict | list) and value == first)
        for value in values
    )


def repeat_row(first: models.Model, counter: str, times: int) -> None:
    """Insert `times` copies of `first`, a stored row with a random version 7 UUID as key.

    From row to row, `counter` and the random part of the key increase by one, so that keys sort
    like the counter. Takes one statement on PostgreSQL.
    """
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
    low = (key & _LOW) - (1 << 64)  # as a signed number: to_hex prints the same digits
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (id, {columns}) "  # noqa: S608  # identifiers only
            f"SELECT (%s || lpad(to_hex(%s + n), 16, '0'))::uuid, {copied} FROM {table}, "
            "generate_series(1, %s) AS n WHERE id = %s",
            [f"{key >> 64:016x}", low, times, first.pk],
        )


def _column(model: type[models.Model], name: str) -> str:
    return str(_field(model, name).column)


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    found = model._meta.get_field(name)
    assert isinstance(found, models.Field)
    return found


def _shape(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """Return the function that prepares a value for COPY, or None if psycopg needs no help."""
    if isinstance(field, MessageField):
        return field.get_prep_value
    return partial(json.dumps, cls=field.encoder) if isinstance(field, models.JSONField) else None
