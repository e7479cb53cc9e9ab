"""Pass the current organization to PostgreSQL for row-level security (docs/design/security.md).

The setting `muster.org` of the connection holds the id of the organization, EVERYWHERE, NOWHERE or
NO_REQUEST. It is sent together with the next statement, and only when it has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.db.backends.postgresql import base

SETTING = "muster.org"
NO_TENANT, ALL_TENANTS = str(UUID(int=0)), str(UUID(int=(1 << 128) - 1))
# Neither an organization nor a request: a background loop, a task or a command.
NO_REQUEST = str(UUID(int=1))
# Superusers switch to this role, because they bypass row-level security.
ROLE = "muster_rows"

_SILENT = {"SAVEPOINT", "RELEASE", "ROLLBACK", "SET", "RESET", "SHOW"}  # access no rows
# May follow another statement in one message.
_JOINED = {
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "WITH",
}


class RowSecurity:
    """The row-level security of this process.

    `place` returns the current value of the setting; without it there is no row-level security.
    `tables` are the protected tables.
    """

    place: Callable[[], str] | None = None
    tables: frozenset[str] = frozenset()

    def is_up(self) -> bool:
        return self.place is not None

    def where(self) -> str:
        return self.place() if self.place is not None else ALL_TENANTS


row_security = RowSecurity()
_Cursor: Any = base.Cursor  # type: ignore[attr-defined]  # the stubs describe an older psycopg


def forget_tenant(connection: Any) -> None:
    """Mark the setting of the connection as unknown, after a rollback or an error."""
    if connection is not None:
        connection.muster_tenant = None


def set_tenant(connection: Any, where: str | None = None) -> None:
    """Send the setting now, in a round trip of its own if needed.

    `where` overrides the current value.
    """
    with connection.cursor() as cursor:
        cursor.set_tenant(where)


class NamedCursor:
    """A server-side cursor that keeps the setting with which it was opened.

    Its rows arrive in several responses, and policies are evaluated for each of them.
    """

    def __init__(self, cursor: Any):
        self._cursor, self._where = cursor, cursor.connection.muster_tenant

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def __iter__(self) -> Iterator[Any]:
        while row := self.fetchone():
            yield row

    def fetchone(self) -> Any:
        return self._with_tenant().fetchone()

    def fetchmany(self, size: int = 0) -> Any:
        return self._with_tenant().fetchmany(size)

    def fetchall(self) -> Any:
        return self._with_tenant().fetchall()

    def _with_tenant(self) -> Any:
        set_tenant(self._cursor.connection, self._where)
        return self._cursor


class Cursor(_Cursor):
    """A cursor that sends the setting before a statement if it has changed."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        where = self._news()
        if where is None:
            return self._run(query, params, options)
        word = query.split(None, 1)[0].upper() if isinstance(query, str) and query.strip() else ""
        if word in _SILENT:
            return self._run(query, params, options)
        if word not in _JOINED:
            self.set_tenant()
            return self._run(query, params, options)
        news = f"SET {SETTING} = '{where}'; "
        self._run(news + query, params, options)
        self.connection.muster_tenant = where
        self.nextset()
        # Logs and tests expect the original statement.
        self._query.query = self._query.query.removeprefix(news.encode())
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        self.set_tenant()
        try:
            super().executemany(query, params_seq, **options)
        except BaseException:
            forget_tenant(self.connection)
            raise

    def copy(self, statement: Any, params: Any = None, **options: Any) -> Any:
        self.set_tenant()
        return super().copy(statement, params, **options)

    def set_tenant(self, where: str | None = None) -> None:
        where = (
            self._news()
            if where is None
            else None
            if where == getattr(self.connection, "muster_tenant", None)
            else where
        )
        if where is not None:
            self._run(f"SET {SETTING} = '{where}'", None, {})
            self.connection.muster_tenant = where

    def _news(self) -> str | None:
        where = (
            ALL_TENANTS
            if getattr(self.connection, "muster_bypasses_row_security", False)
            else row_security.where()
        )
        return None if where == getattr(self.connection, "muster_tenant", None) else where

    def _run(self, query: Any, params: Any, options: dict[str, Any]) -> Any:
        try:
            return super().execute(query, params, **options)
        except BaseException:
            forget_tenant(self.connection)
            raise
