"""An index of the uses of secrets, which their pages list and count."""

from typing import Any

from django.db import migrations

_WHERE = "WHERE kind = 'secret.used'"


def create(apps: Any, schema_editor: Any) -> None:
    is_postgres = schema_editor.connection.vendor == "postgresql"
    how = "CONCURRENTLY " if is_postgres else ""
    schema_editor.execute(
        f"CREATE INDEX {how}IF NOT EXISTS event_secret_used ON core_event (org_id, at) {_WHERE}"
    )


def drop(apps: Any, schema_editor: Any) -> None:
    how = "CONCURRENTLY " if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f"DROP INDEX {how}IF EXISTS event_secret_used")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("core", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
