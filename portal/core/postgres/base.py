"""The database engine of server mode (`ENGINE` names this package)."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    """Django asks each kept connection `SELECT 1` before a request. A server that ended, or ended the connection, has closed its
    side: then there is something to be read from an idle connection. So only where there is, it is asked."""

    def is_usable(self) -> bool:
        return self._is_quiet() or super().is_usable()

    def _is_quiet(self) -> bool:
        if self.connection is None or self.connection.closed or self.connection.info.transaction_status != TransactionStatus.IDLE:
            return False
        look = select.poll()
        look.register(self.connection.fileno(), select.POLLIN)
        return not look.poll(0)
