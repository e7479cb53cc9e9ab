import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("clusters", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="TelemetrySource",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.SlugField(max_length=40, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("dcgm", "Dcgm"), ("prometheus", "Prometheus")], max_length=10
                    ),
                ),
                ("urls", models.TextField()),
                ("matchers", models.CharField(blank=True, max_length=500)),
                ("secret", models.BinaryField(default=b"")),
                ("interval", models.PositiveIntegerField(default=30)),
                ("is_enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("due_at", models.DateTimeField(db_index=True, default=portal.core.clock.now)),
                ("read_at", models.DateTimeField(null=True)),
                ("samples", models.PositiveIntegerField(default=0)),
                ("nodes", models.PositiveIntegerField(default=0)),
                ("problem", models.TextField(blank=True)),
                ("problem_since", models.DateTimeField(null=True)),
                ("unknown", models.JSONField(default=list)),
                ("read_until", models.BigIntegerField(default=0)),
                ("fill_from", models.BigIntegerField(null=True)),
                ("fill_until", models.BigIntegerField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="telemetry_sources",
                        to="clusters.cluster",
                    ),
                ),
            ],
        ),
    ]
