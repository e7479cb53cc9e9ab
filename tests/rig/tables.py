"""Make the tables of an empty portal once per run, and copy them for tests and portals."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.rig.environment import ROOT
from tests.rig.postgres import create_database
from tests.rig.processes import RigFailure

FILE = "muster.sqlite3"
_TEMPLATE = "muster_tables"
CREATE = """
import django
django.setup()
from portal.process.tables import create_tables
create_tables()
"""


def furnish(home: Path, database_url: str, environment: Mapping[str, str]) -> None:
    """Give a portal its tables unless it has some; `environment` is that of its commands."""
    with _alone() as folder:
        if database_url:
            _copy_database(database_url, {**environment, "MUSTER_HOME": str(folder / "server")})
        elif not (home / FILE).exists():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (
                closing(sqlite3.connect(_file(folder, environment))) as made,
                closing(sqlite3.connect(home / FILE)) as ours,
            ):
                made.backup(ours)


def test_database(settings: Mapping[str, Any]) -> str:
    """Create the database of this test process from Django's settings; return its name."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings"}
    with _alone() as folder:
        if url := os.environ.get("MUSTER_DATABASE_URL"):
            made = create_database(url, "muster_tests")
            _copy_database(made, {**environment, "MUSTER_HOME": str(folder / "server")})
            return made.rpartition("/")[2]
        return str(shutil.copy(_file(folder, environment), settings["TEST"]["NAME"]))


_KEPT = {"django_migrations", "django_content_type", "auth_permission"}


def delete_committed_rows(case: Any) -> None:
    """Delete what a test has committed, instead of Django's `flush`.

    Truncating all tables, most of them empty, and sending `post_migrate` takes half a second.
    """
    from django.db import connection

    if not (tables := _tables):
        tables += sorted({*connection.introspection.django_table_names(only_existing=True)} - _KEPT)
    quoted = [connection.ops.quote_name(table) for table in tables]
    found = " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in quoted
    )
    is_postgres = connection.vendor == "postgresql"
    if is_postgres:
        connection.disable_row_security()
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        if is_postgres:
            cursor.execute("SET session_replication_role = replica")  # no foreign keys or triggers
        cursor.execute(found)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {name}")
        if is_postgres:
            cursor.execute("SET session_replication_role = DEFAULT")
    if is_postgres:
        connection.enable_row_security()


_tables: list[str] = []


@contextmanager
def _alone() -> Iterator[Path]:
    folder = Path(os.environ["MUSTER_TEST_TABLES"])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _file(folder: Path, environment: Mapping[str, str]) -> Path:
    done = folder / "embedded"
    if not done.exists():
        making = folder / "making"
        _make({**environment, "MUSTER_HOME": str(making)})
        making.rename(done)
    return done / FILE


def _copy_database(url: str, environment: Mapping[str, str]) -> None:
    import psycopg
    from psycopg import sql

    server, _, name = url.rpartition("/")
    with psycopg.connect(url, autocommit=True) as ours:
        if ours.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchone() == (
            True,
        ):
            return
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        if not connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [_TEMPLATE]
        ).fetchone():
            made = create_database(f"{server}/postgres", "muster_making")
            _make({**environment, "MUSTER_DATABASE_URL": made})
            connection.execute(
                sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                    sql.Identifier(made.rpartition("/")[2]), sql.Identifier(_TEMPLATE)
                )
            )
        connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(_TEMPLATE)
            )
        )


def _make(environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CREATE],
        cwd=ROOT,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RigFailure(f"the tables could not be made: {done.stderr[-3000:]}")
