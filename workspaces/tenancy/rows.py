"""The second wall: PostgreSQL itself shows rows of tenants only to who entered their organization (docs/design/security.md)."""

from __future__ import annotations

import logging
from typing import Any

from django.apps import apps
from django.db import connections

from portal.core.postgres.wall import EVERYWHERE, NOWHERE, SETTING, wall
from workspaces.tenancy.models import TenantModel
from workspaces.tenancy.scope import scope_or_none

log = logging.getLogger(__name__)
POLICY = "muster_org_1"     # a policy of other words gets another number, so that it replaces this one
_HERE = f"nullif(current_setting('{SETTING}', true), '')::uuid"
_WORDS = f"({_HERE} = '{EVERYWHERE}'::uuid OR org_id = {_HERE})"

_BARE = """
SELECT c.relname FROM pg_class c WHERE c.oid = ANY (SELECT to_regclass(quote_ident(name)) FROM unnest(%s::text[]) AS name)
AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = %s))
"""
_MAKE_ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'muster_rows') THEN
    BEGIN CREATE ROLE muster_rows NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles o ON o.oid = m.member
                 WHERE o.rolname = 'muster_rows' AND r.rolname = current_user) THEN
    BEGIN EXECUTE format('GRANT %I TO muster_rows', current_user); EXCEPTION WHEN unique_violation OR internal_error THEN NULL; END;
  END IF;
END $$
"""  # the role is portal.core.postgres.wall.ROLE; two servers that prepare at once may both come here


def build() -> None:
    """From now on each statement says where it works."""
    wall.place = place
    wall.tables = frozenset(tables())


def place() -> str:
    scope = scope_or_none()
    if scope is None:
        return NOWHERE
    return EVERYWHERE if scope.org_id is None else str(scope.org_id)


def tables() -> list[str]:
    return sorted(model._meta.db_table for model in apps.get_models() if issubclass(model, TenantModel))


def before_migrating(using: str, **_: Any) -> None:
    connection = connections[using]
    if connection.vendor == "postgresql":
        connection.open_wall()      # type: ignore[attr-defined]


def after_migrating(using: str, **_: Any) -> None:
    """Each tenant table that lacks the policy gets it, and who connects as superuser a role that is none. Safe to repeat."""
    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    connection.open_wall()          # type: ignore[attr-defined]
    try:
        protect(connection)
    finally:
        connection.close_wall()     # type: ignore[attr-defined]


def bare_tables(connection: Any) -> list[str]:
    """Tenant tables that the wall does not stand before."""
    with connection.cursor() as cursor:
        cursor.execute(_BARE, [tables(), POLICY])
        return sorted(name for (name,) in cursor.fetchall())


def protect(connection: Any) -> None:
    with connection.cursor() as cursor:
        for table in bare_tables(connection):
            _protect_table(cursor, connection.ops.quote_name(table), table)
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        is_superuser, bypasses = cursor.fetchone()
        if is_superuser:
            cursor.execute(_MAKE_ROLE)
        elif bypasses:
            log.warning("the database's user has BYPASSRLS: row-level security does not hold for it (ALTER ROLE … NOBYPASSRLS)")


def _protect_table(cursor: Any, quoted: str, table: str) -> None:
    cursor.execute("SELECT polname FROM pg_policy WHERE polrelid = to_regclass(quote_ident(%s))", [table])
    for (old,) in cursor.fetchall():
        if old.startswith("muster_org_"):
            cursor.execute(f'DROP POLICY "{old}" ON {quoted}')
    cursor.execute(f"CREATE POLICY {POLICY} ON {quoted} USING {_WORDS}")
    cursor.execute(f"ALTER TABLE {quoted} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
