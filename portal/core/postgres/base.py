"""The database backend of server mode (`ENGINE` names this package)."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from portal.core.postgres.row_security import (
    ROLE,
    Cursor,
    NamedCursor,
    forget_tenant,
    row_security,
    set_tenant,
)

# Only in databases that have the tables, not in `postgres`, from which others are created.
_TAKE_ROLE = (
    "SELECT set_config('role', rolname, false) FROM pg_roles "
    "WHERE rolname = %s AND to_regclass('workspaces_organization') IS NOT NULL"
)


_Wrapper: Any = base.DatabaseWrapper


class DatabaseWrapper(_Wrapper):
    """Adds row-level security, and checks idle connections without a round trip.

    Before a request, Django checks a persistent connection with `SELECT 1`. If the server closed
    its side, the idle socket is readable; only then is the query sent. Each statement carries the
    current organization, and superusers switch to a role that is subject to row-level security.
    """

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "cursor_factory": Cursor}

    def init_connection_state(self) -> None:
        super().init_connection_state()
        self.drop_superuser()

    def drop_superuser(self) -> None:
        """Drop superuser rights, which bypass row-level security."""
        if (
            self.connection is not None
            and row_security.is_up()
            and self.connection.info.parameter_status("is_superuser") == "on"
        ):
            with self.connection.cursor() as cursor:
                cursor.execute(_TAKE_ROLE, [ROLE])
            if not self.get_autocommit():
                self.connection.commit()

    def disable_row_security(self) -> None:
        """Allow access to the rows of all organizations, for migrations."""
        self.ensure_connection()
        self.connection.muster_bypasses_row_security = True
        with self.cursor() as cursor:
            cursor.execute("RESET ROLE")

    def enable_row_security(self) -> None:
        self.ensure_connection()
        self.connection.muster_bypasses_row_security = False
        self.drop_superuser()

    def create_cursor(self, name: str | None = None) -> Any:
        if not name:
            return super().create_cursor()
        set_tenant(self.connection)
        return NamedCursor(super().create_cursor(name))

    def _rollback(self) -> Any:
        forget_tenant(self.connection)
        return super()._rollback()

    def _savepoint_rollback(self, sid: str) -> None:
        forget_tenant(self.connection)
        super()._savepoint_rollback(sid)

    def _commit(self) -> Any:
        try:
            return super()._commit()
        except BaseException:
            forget_tenant(self.connection)
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
