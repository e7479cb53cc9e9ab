"""Prepare the start: migrate the database, and create the first administrator."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from clusters.backends import ensure_first_cluster
from clusters.sharing import refusals, start_text
from portal.core.disk import disk_error_text
from portal.process.installation import check_bucket, record_key
from portal.process.schema import check_history, check_schema
from portal.process.tables import create_tables, is_empty
from portal.process.words import Refusal
from workspaces.organizations.bootstrap import FirstStart, bootstrap
from workspaces.tenancy.row_security import after_migrating, grant_role

_DATABASE_TIMEOUT = 30.0  # seconds; the database may still be starting
_SCHEMA_TIMEOUT = 60.0  # seconds
_MIGRATION_LOCK = 0x4D757374  # advisory lock that serializes migrations


def prepare() -> FirstStart:
    """Wait for the database, migrate it, and set up a new installation. Raises Refusal."""
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
    if why := grant_role(connection, role, password):
        raise Refusal(f"The role {role!r} of MUSTER_DATABASE_URL {why}.")


def await_schema() -> None:
    """Wait until the database has been migrated (`serve --only prepare`). Raises Refusal."""
    _await_database()
    deadline = time.monotonic() + _SCHEMA_TIMEOUT
    while _is_behind():
        if time.monotonic() > deadline:
            raise Refusal("The database is not migrated. Run once: manage.py serve --only prepare")
        time.sleep(0.5)
    check_history()
    check_schema()


def _await_database() -> None:
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
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
