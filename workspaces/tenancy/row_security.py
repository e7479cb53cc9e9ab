"""Enforce tenant isolation in PostgreSQL with row-level security (docs/design/security.md)."""

from __future__ import annotations

import logging
from typing import Any

from django.apps import apps
from django.db import connections

from portal.core.postgres.row_security import (
    ALL_TENANTS,
    NO_REQUEST,
    NO_TENANT,
    SETTING,
    row_security,
)
from workspaces.tenancy.models import TenantModel
from workspaces.tenancy.scope import is_in_request, scope_or_none

log = logging.getLogger(__name__)
# When a policy's SQL changes, its number changes too, so that the old one is replaced
_PREFIX = "muster_org_"
# As a subquery it is evaluated once per statement, not per row: a scan of 100,000 rows takes a third.
_CURRENT = f"(SELECT nullif(current_setting('{SETTING}', true), '')::uuid)"
_OWN_ROWS = f"{_CURRENT} = '{ALL_TENANTS}'::uuid OR org_id = {_CURRENT}"

# A TenantModel cannot be read without a scope. Background loops and commands read the other tables
# with an `org_id` without one; a request outside an organization sees none of their rows.
_TENANT = {"muster_org_3": f"USING ({_OWN_ROWS})"}
_SCOPE_OPTIONAL = {"muster_org_4": f"USING ({_OWN_ROWS} OR {_CURRENT} = '{NO_REQUEST}'::uuid)"}
# Everybody may read rows that belong to no organization
_SHARED = {"muster_org_shared_1": "FOR SELECT USING (org_id IS NULL)"}
# A sign-in is recorded in every organization of the user
_APPEND = {"muster_org_append_1": "FOR INSERT WITH CHECK (true)"}
_EXTRA = {
    "workspaces_provider": _SHARED,
    "workspaces_announcement": _SHARED,
    "series_series": _SHARED,
    "core_event": _APPEND,
}

_TABLE_POLICIES = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
       ARRAY(SELECT p.polname::text FROM pg_policy p WHERE p.polrelid = c.oid)
FROM pg_class c
WHERE c.oid = ANY (SELECT to_regclass(quote_ident(name)) FROM unnest(%s::text[]) AS name)
"""
_ROLES = """
SELECT rolsuper OR rolcreaterole, EXISTS (SELECT FROM pg_roles WHERE rolname = %s), rolname = %s
FROM pg_roles WHERE rolname = current_user
"""
_BYPASSES = """
SELECT FROM pg_roles r WHERE r.rolname = %s AND (r.rolsuper OR r.rolbypassrls OR EXISTS (
  SELECT FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND pg_has_role(%s, c.relowner, 'MEMBER')))
"""
# The role is portal.core.postgres.row_security.ROLE. Two servers may run this concurrently.
_MAKE_ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'muster_rows') THEN
    BEGIN CREATE ROLE muster_rows NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_auth_members m
                 JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles o ON o.oid = m.member
                 WHERE o.rolname = 'muster_rows' AND r.rolname = current_user) THEN
    BEGIN EXECUTE format('GRANT %I TO muster_rows', current_user);
    EXCEPTION WHEN unique_violation OR internal_error THEN NULL;
    END;
  END IF;
END $$
"""


def build() -> None:
    """Make every statement of this process carry its tenant."""
    row_security.place = place
    row_security.tables = frozenset(tables())


def place() -> str:
    """Return the value of the tenant setting for the current scope."""
    scope = scope_or_none()
    if scope is None:
        return NO_TENANT if is_in_request() else NO_REQUEST
    return ALL_TENANTS if scope.org_id is None else str(scope.org_id)


def policies() -> dict[str, dict[str, str]]:
    """Return name and SQL of the policies of each table with an `org_id`."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        if any(field.column == "org_id" for field in model._meta.local_concrete_fields):
            table = model._meta.db_table
            found[table] = (
                _TENANT
                if issubclass(model, TenantModel)
                else _SCOPE_OPTIONAL | _EXTRA.get(table, {})
            )
    return found


def tables() -> list[str]:
    """Return every table with an `org_id`."""
    return sorted(policies())


def before_migrating(using: str, **_: Any) -> None:
    """Make rows of all tenants visible to migrations."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        connection.disable_row_security()  # type: ignore[attr-defined]


def after_migrating(using: str, **_: Any) -> None:
    """Add missing policies, and create an unprivileged role if the connection is a superuser.

    Idempotent.
    """
    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    connection.disable_row_security()  # type: ignore[attr-defined]
    try:
        protect(connection)
    finally:
        connection.enable_row_security()  # type: ignore[attr-defined]


def unprotected_tables(connection: Any) -> list[str]:
    """Return the tables that lack row-level security or one of their policies."""
    wanted = policies()
    with connection.cursor() as cursor:
        cursor.execute(_TABLE_POLICIES, [sorted(wanted)])
        return sorted(
            name
            for name, is_forced, has in cursor.fetchall()
            if not is_forced
            or {policy for policy in has if policy.startswith(_PREFIX)} != set(wanted[name])
        )


def protect(connection: Any) -> None:
    """Add missing policies, and create the unprivileged role for superuser connections."""
    with connection.cursor() as cursor:
        for table in unprotected_tables(connection):
            _protect_table(cursor, connection.ops.quote_name(table), table)
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        is_superuser, bypasses = cursor.fetchone()
        if is_superuser:
            cursor.execute(_MAKE_ROLE)
        elif bypasses:
            log.warning(
                "the database role has BYPASSRLS: row-level security does not apply to it (ALTER "
                "ROLE … NOBYPASSRLS)"
            )


def grant_role(connection: Any, role: str, password: str) -> str:
    """Grant a non-owner role access to all tables, creating it if needed.

    Returns why row-level security could not apply to it, or "".
    """
    name = connection.ops.quote_name(role)
    connection.disable_row_security()  # as the role itself, if it is a superuser
    with connection.cursor() as cursor:
        cursor.execute(_ROLES, [role, role])
        may_create, is_known, is_same = cursor.fetchone()
        if is_same:
            return "is the role of MUSTER_MIGRATE_DATABASE_URL; they must differ"
        if not is_known and not may_create:
            return (
                "does not exist, and the role of MUSTER_MIGRATE_DATABASE_URL may not create it "
                "(CREATE ROLE … LOGIN)"
            )
        if not is_known:
            cursor.execute(f"CREATE ROLE {name} LOGIN PASSWORD %s", [password])
        cursor.execute(_BYPASSES, [role, role])
        if cursor.fetchone() is not None:
            return (
                "is a superuser, has BYPASSRLS, or owns tables: row-level security would not apply "
                "to it. Reassign them (REASSIGN OWNED BY)"
            )
        cursor.execute("SELECT quote_ident(current_schema())")
        schema = cursor.fetchone()[0]
        cursor.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO {name}; "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name}; "
            f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {name}"
        )
    return ""


def _protect_table(cursor: Any, quoted: str, table: str) -> None:
    cursor.execute(
        "SELECT polname FROM pg_policy WHERE polrelid = to_regclass(quote_ident(%s))", [table]
    )
    for (old,) in cursor.fetchall():
        if old.startswith(_PREFIX):
            cursor.execute(f'DROP POLICY "{old}" ON {quoted}')
    for name, sql in policies()[table].items():
        cursor.execute(f"CREATE POLICY {name} ON {quoted} {sql}")
    cursor.execute(f"ALTER TABLE {quoted} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
