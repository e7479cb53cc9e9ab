"""The tables of an empty database, made from the models, are those that the migrations make."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from tests.rig.environment import ROOT
from tests.rig.postgres import create_database
from tests.rig.tables import CREATE, FILE

pytestmark = pytest.mark.integration
WAYS = {"models": ["-c", CREATE], "migrations": ["manage.py", "migrate", "-v0"]}
OF_POSTGRES = (
    (
        "SELECT table_name, column_name, data_type, is_nullable, column_default "
        "FROM information_schema.columns WHERE table_schema = 'public' "
        "AND (table_name, column_name) <> ('auth_group_permissions', 'id')"
    ),  # integer or bigint
    "SELECT tablename, tableowner, rowsecurity FROM pg_tables WHERE schemaname = 'public'",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint",
    "SELECT tablename, policyname, cmd, qual, with_check FROM pg_policies",
    "SELECT app, name FROM django_migrations",
)
OF_SQLITE = (
    (
        'SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master m '
        "JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    ),
    (
        'SELECT m.name, f."table", f."from", f."to" FROM sqlite_master m '
        "JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
    ),
    "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index'",
    "SELECT app, name FROM django_migrations",
)


def made(way: str, home: Path, **variables: str) -> None:
    environment = {n: v for n, v in os.environ.items() if not n.startswith("MUSTER_")} | {
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "MUSTER_HOME": str(home),
        **variables,
    }
    subprocess.run([sys.executable, *WAYS[way]], cwd=ROOT, env=environment, check=True)


def test_tables_of_models_and_migrations_are_alike_on_postgresql(tmp_path, postgres_url, redis_url):
    found = []
    for way in WAYS:
        url = create_database(postgres_url, way)
        made(way, tmp_path / way, MUSTER_DATABASE_URL=url, MUSTER_REDIS_URL=redis_url)
        with psycopg.connect(url) as connection:
            found.append([Counter(connection.execute(sql).fetchall()) for sql in OF_POSTGRES])
    assert found[0] == found[1]


def test_tables_of_models_and_migrations_are_alike_on_sqlite(tmp_path):
    found = []
    for way in WAYS:
        made(way, tmp_path / way)
        connection = sqlite3.connect(tmp_path / way / FILE)
        found.append([Counter(connection.execute(sql).fetchall()) for sql in OF_SQLITE])
        connection.close()
    assert found[0] == found[1]
