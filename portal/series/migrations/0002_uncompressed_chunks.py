"""Keep PostgreSQL from compressing data: packed rows are compressed, and raw ones are short-lived."""

from django.db import migrations


def store_uncompressed(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE series_chunk ALTER COLUMN data SET STORAGE EXTERNAL")


class Migration(migrations.Migration):
    dependencies = [("series", "0001_initial")]

    operations = [migrations.RunPython(store_uncompressed, migrations.RunPython.noop)]
