"""The database engine of server mode (`ENGINE` names this package)."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from portal.core.postgres.row_security import ROLE, Cursor, NamedCursor, forget, tell, wall

# Only where the tables are: not in the database `postgres`, where others are made from.
_TAKE_ROLE = "SELECT set_config('role', rolname, false) FROM pg_roles WHERE rolname = %s AND to_regclass('workspaces_organization') IS NOT NULL"


_Wrapper: Any = base.DatabaseWrapper


class DatabaseWrapper(_Wrapper):
    """Django asks each kept connection `SELECT 1` before a request. A server that ended, or ended the connection, has closed its
    side: then there is something to be read from an idle connection. So only where there is, it is asked.

    Each statement is told the organization that was entered (`wall`), and who connects as superuser works as a role that is none."""

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "cursor_factory": Cursor}

    def init_connection_state(self) -> None:
        super().init_connection_state()
        self.take_role()

    def take_role(self) -> None:
        """Be no superuser from now on, whom row-level security would not stop."""
        if (
            self.connection is not None
            and wall.is_up()
            and self.connection.info.parameter_status("is_superuser") == "on"
        ):
            with self.connection.cursor() as cursor:
                cursor.execute(_TAKE_ROLE, [ROLE])
            if not self.get_autocommit():
                self.connection.commit()

    def open_wall(self) -> None:
        """For migrations, which make tables and change rows of every organization."""
        self.ensure_connection()
        self.connection.muster_sees_all = True
        with self.cursor() as cursor:
            cursor.execute("RESET ROLE")

    def close_wall(self) -> None:
        self.ensure_connection()
        self.connection.muster_sees_all = False
        self.take_role()

    def create_cursor(self, name: str | None = None) -> Any:
        if not name:
            return super().create_cursor()
        tell(self.connection)
        return NamedCursor(super().create_cursor(name))

    def _rollback(self) -> Any:
        forget(self.connection)
        return super()._rollback()

    def _savepoint_rollback(self, sid: str) -> None:
        forget(self.connection)
        super()._savepoint_rollback(sid)

    def _commit(self) -> Any:
        try:
            return super()._commit()
        except BaseException:
            forget(self.connection)
            raise

    def is_usable(self) -> bool:
        return self._is_quiet() or bool(super().is_usable())

    def _is_quiet(self) -> bool:
        if (
            self.connection is None
            or self.connection.closed
            or self.connection.info.transaction_status != TransactionStatus.IDLE
        ):
            return False
        look = select.poll()
        look.register(self.connection.fileno(), select.POLLIN)
        return not look.poll(0)
