import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="LatestBatch",
            fields=[
                ("owner", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("at_ms", models.BigIntegerField()),
                ("data", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("owner", models.CharField(max_length=60)),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("data", models.BinaryField()),
            ],
            options={
                "indexes": [models.Index(fields=["owner", "end_ms"], name="batch_owner")],
            },
        ),
        migrations.CreateModel(
            name="Series",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("owner", models.CharField(max_length=60)),
                ("name", models.CharField(max_length=250)),
                ("labels", models.CharField(default="{}", max_length=500)),
                ("unit", models.CharField(blank=True, max_length=20)),
                ("org_id", models.UUIDField(null=True)),
                ("last_at", models.BigIntegerField(default=0)),
                ("last_value", models.FloatField(null=True)),
                ("last_special", models.CharField(blank=True, db_default="", max_length=9)),
                ("last_step", models.BigIntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "name", "labels"), name="series_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("is_open", models.BooleanField(default=True)),
                ("data", models.BinaryField()),
                ("coarse", models.BinaryField(null=True)),
                ("step_ms", models.PositiveIntegerField(db_default=0, default=0)),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="series.series",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["series", "end_ms"], name="chunk_series"),
                    models.Index(fields=["end_ms"], name="chunk_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_open", True)),
                        fields=("series",),
                        name="chunk_open_once",
                    )
                ],
            },
        ),
    ]
