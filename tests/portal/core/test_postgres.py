"""Idle connections are checked without a query, and replaced when closed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db.utils import ConnectionHandler

from portal.settings.database import _postgres

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(postgres_url) -> Iterator[Any]:
    """Return a connection of our backend as it is between two requests."""
    made = ConnectionHandler({"default": _postgres(postgres_url) | {"TEST": {}}})["default"]
    made.inc_thread_sharing()
    with made.cursor() as cursor:
        cursor.execute("SELECT 1")
    yield made
    made.close()


def _backend_pid(connection: Any) -> int:
    """Use the connection as a request does: the first cursor checks it."""
    connection.close_if_unusable_or_obsolete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_live_connection_is_kept_without_a_query(kept, monkeypatch):
    pid = _backend_pid(kept)
    monkeypatch.setattr(
        "django.db.backends.postgresql.base.DatabaseWrapper.is_usable",
        lambda self: pytest.fail("it was asked"),
    )
    assert _backend_pid(kept) == pid


def test_connection_closed_by_server_is_replaced_before_use(kept, postgres_url, wait_for):
    pid = _backend_pid(kept)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert _backend_pid(kept) != pid


def test_connection_in_open_transaction_is_not_considered_usable(kept, monkeypatch):
    requests = []
    monkeypatch.setattr(
        "django.db.backends.postgresql.base.DatabaseWrapper.is_usable",
        lambda self: requests.append(1) or True,
    )
    kept.connection.autocommit = False
    with kept.connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert kept.is_usable() and requests == [1]
    kept.connection.rollback()
