"""PostgreSQL if MUSTER_DATABASE_URL is set, else SQLite in MUSTER_HOME (WAL, synchronous=FULL).

MUSTER_MIGRATE_DATABASE_URL names the same database with the role that owns and migrates the tables.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from portal.settings import env


def _postgres(url: str, name: str = "MUSTER_DATABASE_URL") -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise SystemExit(f"{name} must begin with postgres:// (it begins with {parts.scheme!r})")
    options: dict[str, Any] = {"connect_timeout": "5", **dict(parse_qsl(parts.query))}
    return {
        "ENGINE": "portal.core.postgres",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(options.pop("host", parts.hostname or "")),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def _sqlite() -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": env.home() / "muster.sqlite3",
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            " PRAGMA foreign_keys=ON;"
            " PRAGMA cache_size=-8000; PRAGMA temp_store=MEMORY;",
        },
    }


_url = env.text("MUSTER_DATABASE_URL")
DATABASES = {"default": _postgres(_url) if _url else _sqlite()}
_migrate_url = env.text("MUSTER_MIGRATE_DATABASE_URL") if _url else ""
MUSTER_MIGRATE_DATABASE = (
    _postgres(_migrate_url, "MUSTER_MIGRATE_DATABASE_URL") if _migrate_url else None
)
