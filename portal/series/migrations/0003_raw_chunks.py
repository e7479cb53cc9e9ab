"""Points are appended to raw chunks by the database; packed chunks that are open are closed."""

from django.db import migrations, models

_BATCH = 5000


def close_packed_chunks(apps, schema_editor):
    """Close all open chunks, a batch at a time. Compaction packs what is closed and not coarse."""
    chunks = apps.get_model("series", "Chunk").objects
    while ids := list(chunks.filter(is_open=True).values_list("id", flat=True)[:_BATCH]):
        chunks.filter(id__in=ids).update(is_open=False)


def store_uncompressed(apps, schema_editor):
    """Keep PostgreSQL from compressing data: packed rows are compressed, and raw ones are short-lived."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE series_chunk ALTER COLUMN data SET STORAGE EXTERNAL")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("series", "0002_series_last_special")]

    operations = [
        migrations.RunPython(close_packed_chunks, migrations.RunPython.noop),
        migrations.RunPython(store_uncompressed, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="chunk",
            name="series",
            field=models.ForeignKey(
                db_index=False,
                on_delete=models.deletion.CASCADE,
                related_name="chunks",
                to="series.series",
            ),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_open", True)), fields=("series",), name="chunk_open_once"
            ),
        ),
    ]
