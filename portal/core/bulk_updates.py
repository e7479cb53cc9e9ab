"""Write and load many rows in few statements; `bulk_update` builds CASE trees that are slow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias

from django.db import connection, models

AnyField: TypeAlias = "models.Field[Any, Any]"
FEW = 4  # Up to so many sets of values, one UPDATE for each is cheaper than a join with arrays.


def write_rows(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """Write these fields of the objects; rows with equal values share one statement.

    The caller's transaction has locked the rows. Tasks of an array mostly have equal values.
    """
    if not rows:
        return
    meta = type(rows[0])._meta
    fields = [_field(meta.get_field(name)) for name in names]
    if connection.vendor != "postgresql":
        _each(rows, fields)
        return
    other = [
        field for field in fields if not _are_same([getattr(row, field.attname) for row in rows])
    ]
    alike: dict[tuple[Any, ...], list[models.Model]] = defaultdict(list)
    for row in rows:
        alike[tuple([_plain(getattr(row, field.attname)) for field in other])].append(row)
    if len(alike) <= FEW:
        _groups(list(alike.values()), fields)
    else:
        _joined(rows, [field for field in fields if field not in other], other)


def attach(rows: Sequence[models.Model], *names: str) -> None:
    """Load these foreign keys where missing; rows with the same target share one object."""
    for name in names:
        field: Any = rows[0]._meta.get_field(name) if rows else None
        lacking = [row for row in rows if not field.is_cached(row)]
        ids = {pk for row in lacking if (pk := getattr(row, field.attname)) is not None}
        found = field.related_model._default_manager.in_bulk(ids) if ids else {}
        for row in lacking:
            field.set_cached_value(row, found.get(getattr(row, field.attname)))


def _each(rows: Sequence[models.Model], fields: Sequence[AnyField]) -> None:
    sets = ", ".join(f"{_name(field)} = %s" for field in fields)
    key = _key(rows)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {_table(rows)} SET {sets} WHERE {_name(key)} = %s",  # noqa: S608  names, no values
            [_values(row, [*fields, key]) for row in rows],
        )


def _groups(alike: Sequence[Sequence[models.Model]], fields: Sequence[AnyField]) -> None:
    """Write each set of values by one statement."""
    sets = ", ".join(f"{_name(field)} = %s" for field in fields)
    update = f"UPDATE {_table(alike[0])} SET {sets} WHERE {_name(_key(alike[0]))} = ANY(%s)"  # noqa: S608  names, no values
    with connection.cursor() as cursor:
        for same in alike:
            cursor.execute(update, [*_values(same[0], fields), [row.pk for row in same]])


def _joined(
    rows: Sequence[models.Model], same: Sequence[AnyField], other: Sequence[AnyField]
) -> None:
    """Write all rows by one statement: differing columns as arrays, the others as plain values."""
    key = _key(rows)
    sets = ", ".join(
        [f"{_name(field)} = %s" for field in same]
        + [f"{_name(field)} = v.{_name(field)}" for field in other]
    )
    arrays = ", ".join(f"%s::{_type(field)}[]" for field in [key, *other])
    names = ", ".join(_name(field) for field in [key, *other])
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_table(rows)} AS t SET {sets} FROM unnest({arrays}) AS v ({names}) "  # noqa: S608  names, no values
            f"WHERE t.{_name(key)} = v.{_name(key)}",
            [*_values(rows[0], same), *(_column(rows, field) for field in [key, *other])],
        )


def _table(rows: Sequence[models.Model]) -> str:
    return connection.ops.quote_name(rows[0]._meta.db_table)


def _key(rows: Sequence[models.Model]) -> AnyField:
    return _field(rows[0]._meta.pk)


def _name(field: AnyField) -> str:
    return connection.ops.quote_name(str(field.column))


def _type(field: AnyField) -> str:
    """Return the column's type for a cast.

    A CHECK clause is removed, and so is the length of `varchar(100)`, which would truncate
    silently.
    """
    return str(field.cast_db_type(connection)).partition("(")[0]


def _field(found: object) -> AnyField:
    assert isinstance(found, models.Field)
    return found


def _values(row: models.Model, fields: Sequence[AnyField]) -> list[Any]:
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]


def _column(rows: Sequence[models.Model], field: AnyField) -> list[Any]:
    prepared, name = field.get_db_prep_save, field.attname
    return [prepared(getattr(row, name), connection) for row in rows]


def _are_same(values: list[Any]) -> bool:
    """Return whether all values are equal; faster than hashing, and most columns are."""
    if isinstance(values[0], dict | list):
        values = [repr(value) for value in values]
    return values.count(values[0]) == len(values)


def _plain(value: Any) -> Any:
    """Return a hashable equivalent of the value."""
    return repr(value) if isinstance(value, dict | list) else value
