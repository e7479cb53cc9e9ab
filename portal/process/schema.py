"""Compare the database with the migrations and models of this version, and say what differs.

Released migrations are never edited (`python -m tests.rig check`), so a database either has a
prefix of them, and is upgraded, or another program has changed it, and the start is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from portal.process.words import Refusal

if TYPE_CHECKING:
    from django.db.migrations.loader import MigrationLoader

_SHOWN = 8  # differences named in a refusal
_OLDER = (
    "It was made by a version before 0.1, whose migrations were changed afterwards, so it cannot be\n"
    "upgraded in place. Either run the version that made it, export what you need there\n"
    "(muster dataset download, muster job list --json, muster experiment list --json), and import\n"
    "it into an empty portal: MUSTER_HOME=./var2 make run\n"
    "Or restore a backup that version 0.1.0 or later has made."
)
_NEWER = (
    "A newer version of Muster has upgraded it. Start that version (git log, or the image's tag),\n"
    "or restore the backup from before the upgrade."
)


def check_history() -> None:
    """Raise Refusal if the applied migrations are not a prefix of ours."""
    from django.db import connection
    from django.db.migrations.exceptions import InconsistentMigrationHistory
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    if unknown := _unknown(loader):
        raise Refusal(
            f"The database has migrations that this version ({_version()}) does not know:\n"
            f"  {_list(unknown)}\n{_OLDER if _is_older(loader) else _NEWER}"
        )
    try:
        loader.check_consistent_history(connection)
    except InconsistentMigrationHistory as error:
        raise Refusal(
            f"The database cannot be upgraded to this version ({_version()}): {error}\n{_OLDER}"
        ) from None


def check_schema() -> None:
    """Raise Refusal if the database lacks a table or column of our models, or has one too many.

    A column is one too many if nobody gives it a value: each INSERT would fail.
    """
    from django.apps import apps
    from django.db import connection

    found, differences = _columns(), list[str]()
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.managed or not model._meta.can_migrate(connection):
            continue
        table = model._meta.db_table
        known = {field.column for field in model._meta.local_fields if field.column}
        if table not in found:
            differences.append(f"table {table} is missing")
            continue
        differences += [f"column {table}.{name} is missing" for name in known - {*found[table]}]
        differences += [
            f"column {table}.{name} is unknown and needs a value"
            for name, is_needed in found[table].items()
            if is_needed and name not in known
        ]
    if differences:
        raise Refusal(
            f"The database is not as this version ({_version()}) left it:\n"
            f"  {_list(sorted(differences))}\n{_OLDER}"
        )


def _columns() -> dict[str, dict[str, bool]]:
    """Return whether each column needs a value, by table, in one query."""
    from django.db import connection

    statement = (
        "SELECT c.relname, a.attname, a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' "
        "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped "
        "AND pg_table_is_visible(c.oid)"
        if connection.vendor == "postgresql"
        else 'SELECT m.name, c.name, c."notnull" AND c.dflt_value IS NULL AND NOT c.pk '
        "FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        made: dict[str, dict[str, bool]] = {}
        for table, column, is_needed in cursor.fetchall():
            made.setdefault(table, {})[column] = bool(is_needed)
        return made


def _unknown(loader: MigrationLoader) -> list[str]:
    assert loader.applied_migrations is not None
    return sorted(
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
    )


def _is_older(loader: MigrationLoader) -> bool:
    """Return whether one of our own migrations is missing: a newer version would have them all."""
    assert loader.applied_migrations is not None
    return any(
        key not in loader.applied_migrations
        and not type(migration).__module__.startswith("django.")
        for key, migration in loader.disk_migrations.items()
    )


def _list(names: Iterable[str]) -> str:
    names = list(names)
    more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return "\n  ".join([*islice(names, _SHOWN), *more])


def _version() -> str:
    from django.conf import settings

    return str(settings.MUSTER_VERSION)
