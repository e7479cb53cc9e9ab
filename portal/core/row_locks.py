"""Lock rows in ways that the ORM does not offer."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import QuerySet


def keep_rows(rows: QuerySet[Any]) -> set[Any]:
    """Keep rows from being deleted until the transaction ends; return their primary keys.

    Any number of transactions may keep the same row, so they never wait for each other. Whoever
    deletes it waits, or was first: then it is not returned.
    """
    query = rows.order_by("pk").values_list("pk", flat=True)
    if connection.vendor != "postgresql":  # one transaction writes at a time
        return set(query)
    sql, params = query.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} FOR KEY SHARE", params)
        return {row[0] for row in cursor.fetchall()}
