from django.db import migrations, models

import portal.core.clock
import portal.core.ids


class Migration(migrations.Migration):
    """How long events are kept, and where they go."""

    dependencies = [("core", "0003_audit_chain")]
    operations = [
        migrations.CreateModel(
            name="AuditPolicy",
            fields=[
                ("chain", models.UUIDField(primary_key=True, serialize=False)),
                ("keep_days", models.PositiveIntegerField(null=True)),
                ("trouble", models.CharField(blank=True, default="", max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="AuditForward",
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
                ("chain", models.UUIDField()),
                ("target", models.CharField(max_length=500)),
                ("secret", models.BinaryField(default=bytes)),
                ("sent_seq", models.BigIntegerField(default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                ("tries", models.IntegerField(default=0)),
                ("next_at", models.DateTimeField(default=portal.core.clock.now)),
                ("trouble", models.CharField(blank=True, default="", max_length=300)),
                ("dead_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("created_by", models.CharField(max_length=254)),
            ],
            options={"indexes": [models.Index(fields=["chain"], name="audit_forward_chain")]},
        ),
    ]
