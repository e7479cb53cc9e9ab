"""While PostgreSQL is down or SQLite is busy, every entry point answers 503 and Retry-After."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper as SqliteWrapper
from django.test import Client

from monitoring.live.access import AccessEvents
from monitoring.live.consumers import LiveConsumer
from portal.core.postgres.base import DatabaseWrapper
from tests.rig.processes import free_port
from workspaces.credentials.token_format import new_secret
from workspaces.identity.connections import BySession

TOKEN = {"Authorization": f"Bearer {new_secret()}"}
SESSION = {"Cookie": f"{settings.SESSION_COOKIE_NAME}=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
DOORS = [
    ("GET", "/api/v1/me", TOKEN),
    ("GET", "/api/v1/orgs/atlas/jobs", SESSION),
    ("GET", "/atlas/jobs", SESSION),
    ("GET", "/", SESSION),
    ("POST", "/identity/o/api/token", {}),
    ("POST", "/identity/o/api/device/code", {}),
    ("GET", "/identity/o/authorize?client_id=x", {}),
    ("GET", "/scim/v2/okta/Users", TOKEN),
    ("GET", "/readyz", {}),
    ("GET", "/metrics", TOKEN),
]


@pytest.fixture
def away(monkeypatch, django_db_blocker):
    """Point this thread's connection at a closed port."""
    given = {
        **connections["default"].settings_dict,
        "ENGINE": "portal.core.postgres",
        "NAME": "muster",
        "HOST": "127.0.0.1",
        "PORT": str(free_port()),
        "USER": "muster",
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():
        wrapper = DatabaseWrapper(given, "default")
        monkeypatch.setattr(connections._connections, "default", wrapper)
        yield wrapper


@pytest.mark.parametrize(
    ("method", "path", "headers"), DOORS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_request_while_the_database_is_away_is_503_with_retry_after(away, method, path, headers):
    answer = Client(raise_request_exception=False).generic(
        method,
        path,
        b"client_id=x&grant_type=client_credentials",
        "application/x-www-form-urlencoded",
        headers=headers,
    )
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5")
    if answer.headers["Content-Type"] == "application/problem+json":
        assert answer.json()["retryable"] is True


@pytest.fixture
def busy(monkeypatch, django_db_blocker, tmp_path):
    """Use a SQLite file that another connection has locked."""
    given = {
        **connections["default"].settings_dict,
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(tmp_path / "busy.sqlite3"),
        "OPTIONS": {"timeout": 0},
    }
    with closing(sqlite3.connect(given["NAME"])) as other, django_db_blocker.unblock():
        other.execute("BEGIN EXCLUSIVE")
        wrapper = SqliteWrapper(given, "default")
        monkeypatch.setattr(connections._connections, "default", wrapper)
        yield wrapper
        wrapper.close()


@pytest.mark.parametrize(("method", "path", "headers"), DOORS[:4])
def test_request_while_sqlite_is_busy_is_503_with_retry_after(busy, method, path, headers):
    answer = Client(raise_request_exception=False).generic(method, path, headers=headers)
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "2")


async def test_websocket_while_the_database_is_away_is_refused_with_503(away, monkeypatch):
    monkeypatch.setattr(AccessEvents, "look", lambda self: away.ensure_connection())
    sent = []

    async def send(message):
        sent.append(message)

    consumer = LiveConsumer()
    consumer.scope, consumer.base_send = {"type": "websocket", "way": BySession("")}, send
    await consumer.connect()
    assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", 503)
    assert dict(sent[0]["headers"])[b"retry-after"] == b"5"
