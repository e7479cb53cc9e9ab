"""An index of what the list of jobs searches and counts, so that it need not read the wide rows."""

from typing import Any

from django.db import migrations


def create(apps: Any, schema_editor: Any) -> None:
    # SQLite has no covering indexes
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS job_listed ON jobs_job (org_id, number DESC) "
            "INCLUDE (id, name, state, team_id, owner_id)"
        )


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX CONCURRENTLY IF EXISTS job_listed")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("jobs", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
