"""Prepare the start: migrate the database, create the first administrator, open the socket."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from portal.core.disk import disk_error_text
from portal.process.words import Refusal

if TYPE_CHECKING:
    from typing import Any

    from workspaces.organizations.bootstrap import FirstStart

_DATABASE_TIMEOUT = 30.0  # seconds; the database may still be starting
_SCHEMA_TIMEOUT = 60.0  # seconds
_PORT_TIMEOUT = 3.0  # seconds
_MIGRATION_LOCK = 0x4D757374  # advisory lock that serializes migrations


def prepare() -> FirstStart:
    """Wait for the database, migrate it, and set up a new installation. Raises Refusal."""
    from django.conf import settings

    from clusters.backends import ensure_first_cluster
    from portal.process.installation import check_bucket, record_key
    from workspaces.organizations.bootstrap import bootstrap

    check_bucket()
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
    with _migrating_role() as serving, _locked():
        _migrate()
        if serving:
            _admit_role(serving["USER"], serving["PASSWORD"])
    with _locked():
        record_key()
        first = bootstrap()
        ensure_first_cluster()
        return first


@contextmanager
def _locked() -> Iterator[None]:
    """Hold a lock against other servers that prepare the same database."""
    from django.db import connection

    _await_database()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_MIGRATION_LOCK])
    try:
        yield
    finally:
        connection.close()  # releases the lock as well


def isolation_lines() -> tuple[str, list[str]]:
    """Return how jobs on this machine are isolated, and why none can run. Raises Refusal.

    Closes the connection, because processes are forked afterwards.
    """
    from django.core.exceptions import ImproperlyConfigured
    from django.db import connection

    from clusters.sharing import refusals, start_text

    try:
        return start_text(), refusals()
    except ImproperlyConfigured as error:
        raise Refusal(str(error)) from None
    finally:
        connection.close()


@contextmanager
def _migrating_role() -> Iterator[dict[str, Any] | None]:
    """Connect with MUSTER_MIGRATE_DATABASE_URL if set, and yield the settings of the serving role.

    Removes the variable, so that child processes do not inherit it.
    """
    from django.conf import settings
    from django.db import connection

    os.environ.pop("MUSTER_MIGRATE_DATABASE_URL", None)
    if settings.MUSTER_MIGRATE_DATABASE is None:
        yield None
        return
    serving = connection.settings_dict
    connection.close()
    connection.settings_dict = {**serving, **settings.MUSTER_MIGRATE_DATABASE}
    try:
        yield serving
    finally:
        connection.close()
        connection.settings_dict = serving
        settings.MUSTER_MIGRATE_DATABASE = None


def _admit_role(role: str, password: str) -> None:
    from django.db import connection

    from workspaces.tenancy.row_security import grant_role

    if why := grant_role(connection, role, password):
        raise Refusal(f"The role {role!r} of MUSTER_DATABASE_URL {why}.")


def await_schema() -> None:
    """Wait until the database has been migrated (`serve --only prepare`). Raises Refusal."""
    from portal.process.schema import check_history, check_schema

    _await_database()
    deadline = time.monotonic() + _SCHEMA_TIMEOUT
    while _is_behind():
        if time.monotonic() > deadline:
            raise Refusal("The database is not migrated. Run once: manage.py serve --only prepare")
        time.sleep(0.5)
    check_history()
    check_schema()


_UNSENT = 256 << 10  # bytes


def listen(host: str, port: int) -> socket.socket:
    """Return the listening socket. Raises Refusal.

    Waits while the port is in use: the processes of a killed portal need a moment to exit.
    """
    deadline = time.monotonic() + _PORT_TIMEOUT
    while True:
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise Refusal(
                    f"Port {port} on {host} cannot be used: "
                    f"{(error.strerror or str(error)).lower()}.\n"
                    f"Choose another: MUSTER_PORT={port + 1 if port < 65535 else 8000} make run"
                ) from None
        time.sleep(0.1)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it: the kernel buffers no more for a slow reader than is on its way.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
    try:
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    sock.listen(2048)
    return sock


def listen_unix(path: Path) -> socket.socket:
    """Return a listening Unix socket that only this user may connect to."""
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    path.chmod(0o600)
    sock.listen(2048)
    return sock


def _await_database() -> None:
    from django.db import OperationalError, connection

    deadline = time.monotonic() + _DATABASE_TIMEOUT
    while True:
        try:
            connection.ensure_connection()
            return
        except OperationalError as error:
            if disk_error_text(error):
                raise
            if connection.vendor == "sqlite" or time.monotonic() > deadline:
                raise Refusal(
                    f"The database is not responding: {str(error).strip()}\n"
                    "Check MUSTER_DATABASE_URL, or the file muster.sqlite3 in MUSTER_HOME."
                ) from None
            time.sleep(0.2)


def _migrate() -> None:
    from django.core.management import call_command
    from django.db import DatabaseError

    from portal.process.schema import check_history, check_schema
    from portal.process.tables import create_tables, is_empty
    from workspaces.tenancy.row_security import after_migrating

    if is_empty():
        create_tables()
        return
    check_history()
    if _is_behind():
        try:
            call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        except DatabaseError as error:
            if disk_error_text(error):
                raise
            raise Refusal(
                f"The database could not be upgraded: {str(error).strip()}\n"
                "What was done before is kept. Start the former version, or restore the backup; "
                "if nobody has changed the tables by hand, report this message."
            ) from error
    else:
        # For a database that was restored without its policies, or migrated by hand.
        after_migrating("default")
    check_schema()


def _is_behind() -> bool:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
