"""What PostgreSQL is told of where one works, so that its row-level security can be a second wall (docs/design/security.md).

One setting of the connection, `muster.org`, holds the organization that was entered, EVERYWHERE, NOWHERE or NO_REQUEST. It is told with the
next statement, in the same round trip, and only when it is another than the connection was told last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.db.backends.postgresql import base

SETTING = "muster.org"
NOWHERE, EVERYWHERE = str(UUID(int=0)), str(UUID(int=(1 << 128) - 1))
NO_REQUEST = str(
    UUID(int=1)
)  # no organization was entered, and no request asked: a background loop, a task, a command
ROLE = "muster_rows"  # who connects as superuser works as this role: nothing stops a superuser

_SILENT = {"SAVEPOINT", "RELEASE", "ROLLBACK", "SET", "RESET", "SHOW"}  # these reach no row
_JOINED = {
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "WITH",
}  # these may follow another statement in one message


class Wall:
    """`place` says where one works, as the part above knows it; without it there is no second wall. `tables` are behind it."""

    place: Callable[[], str] | None = None
    tables: frozenset[str] = frozenset()

    def is_up(self) -> bool:
        return self.place is not None

    def where(self) -> str:
        return self.place() if self.place is not None else EVERYWHERE


wall = Wall()
_Cursor: Any = base.Cursor  # type: ignore[attr-defined]  # the stubs know the psycopg of old


def forget(connection: Any) -> None:
    """What this connection was told may have been undone (a rollback, an error): it is told again."""
    if connection is not None:
        connection.muster_told = None


def tell(connection: Any, where: str | None = None) -> None:
    """Tell it now, in a round trip of its own if need be; `where` and not where one is."""
    with connection.cursor() as cursor:
        cursor.tell(where)


class NamedCursor:
    """Its rows come in several answers, and policies are asked at each: whatever was entered meanwhile, they are those of the place in
    which it was opened. (Outside of a transaction PostgreSQL keeps all of them at once.)"""

    def __init__(self, cursor: Any):
        self._cursor, self._where = cursor, cursor.connection.muster_told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def __iter__(self) -> Iterator[Any]:
        while row := self.fetchone():
            yield row

    def fetchone(self) -> Any:
        return self._told().fetchone()

    def fetchmany(self, size: int = 0) -> Any:
        return self._told().fetchmany(size)

    def fetchall(self) -> Any:
        return self._told().fetchall()

    def _told(self) -> Any:
        tell(self._cursor.connection, self._where)
        return self._cursor


class Cursor(_Cursor):
    """Tells the database where one works before it answers."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        where = self._news()
        if where is None:
            return self._run(query, params, options)
        word = query.split(None, 1)[0].upper() if isinstance(query, str) and query.strip() else ""
        if word in _SILENT:
            return self._run(query, params, options)
        if word not in _JOINED:
            self.tell()
            return self._run(query, params, options)
        news = f"SET {SETTING} = '{where}'; "
        self._run(news + query, params, options)
        self.connection.muster_told = where
        self.nextset()
        self._query.query = self._query.query.removeprefix(
            news.encode()
        )  # logs and tests look at what the code asked
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        self.tell()
        try:
            super().executemany(query, params_seq, **options)
        except BaseException:
            forget(self.connection)
            raise

    def copy(self, statement: Any, params: Any = None, **options: Any) -> Any:
        self.tell()
        return super().copy(statement, params, **options)

    def tell(self, where: str | None = None) -> None:
        where = (
            self._news()
            if where is None
            else None
            if where == getattr(self.connection, "muster_told", None)
            else where
        )
        if where is not None:
            self._run(f"SET {SETTING} = '{where}'", None, {})
            self.connection.muster_told = where

    def _news(self) -> str | None:
        where = EVERYWHERE if getattr(self.connection, "muster_sees_all", False) else wall.where()
        return None if where == getattr(self.connection, "muster_told", None) else where

    def _run(self, query: Any, params: Any, options: dict[str, Any]) -> Any:
        try:
            return super().execute(query, params, **options)
        except BaseException:
            forget(self.connection)
            raise
