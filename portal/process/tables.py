"""Create the tables of an empty database from the models.

It takes a second. Migrations rebuild all related models at each step, which takes twenty;
tests/portal/test_tables.py compares both.
"""

from __future__ import annotations

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import connection, transaction
from django.db.migrations import Migration, RunPython
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OTHERS = ("django.", "allauth.")  # their functions change rows only, and there are none


def is_empty() -> bool:
    """Return whether no migration has been applied."""
    return not MigrationRecorder(connection).applied_migrations()


def create_tables() -> None:
    """Create all tables and record all migrations as applied.

    Runs the functions of migrations that are not `elidable`, which is what data migrations are.
    May be repeated after an interruption.
    """
    recorder = MigrationRecorder(connection)
    emit_pre_migrate_signal(0, False, connection.alias)
    recorder.ensure_schema()
    existing = set(connection.introspection.table_names())
    with connection.schema_editor() as editor:
        for model in apps.get_models():
            if model._meta.can_migrate(connection) and model._meta.db_table not in existing:
                editor.create_model(model)
    migrations = _in_order()
    for migration in migrations:
        _run_functions(migration)
    emit_post_migrate_signal(0, False, connection.alias)
    with transaction.atomic():
        for migration in migrations:
            recorder.record_applied(migration.app_label, migration.name)


def _in_order() -> list[Migration]:
    graph = MigrationLoader(connection).graph
    keys = (key for leaf in graph.leaf_nodes() for key in graph.forwards_plan(leaf))
    return [graph.nodes[key] for key in dict.fromkeys(keys)]


def _run_functions(migration: Migration) -> None:
    if type(migration).__module__.startswith(OTHERS):
        return
    for operation in migration.operations:
        if isinstance(operation, RunPython) and not operation.elidable:
            with connection.schema_editor(atomic=migration.atomic) as editor:
                operation.code(apps, editor)
