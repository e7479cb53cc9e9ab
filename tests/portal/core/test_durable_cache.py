"""The cache in the database, which rate limits use, while another process writes to SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from django.db import OperationalError, connection

from workspaces.identity.rate_limit_cache import durable

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


def test_entry_that_exists_is_not_added():
    assert durable.add("a", 1) and not durable.add("a", 2) and durable.get("a") == 1


def test_entry_that_cannot_be_written_now_is_an_outage_not_a_refusal(mode):
    if mode != "embedded":
        return  # PostgreSQL has many writers
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout=10")
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(OperationalError, match="locked"):
                durable.add("a", 1)
        finally:
            other.rollback()
            connection.close()
