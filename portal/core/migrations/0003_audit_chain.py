from django.db import migrations, models

import portal.core.clock


class Migration(migrations.Migration):
    """Events are chained."""

    dependencies = [("core", "0002_who_asked")]
    operations = [
        migrations.CreateModel(
            name="AuditLink",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
                ("chain", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("hash", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("chain", "seq"), name="audit_link_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditAnchor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("chain", models.UUIDField()),
                ("number", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(choices=[("anchor", "Anchor"), ("cut", "Cut")], max_length=8),
                ),
                ("seq", models.BigIntegerField()),
                ("hash", models.BinaryField(max_length=32)),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
                ("mac", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("chain", "number"), name="audit_anchor_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditCheck",
            fields=[
                ("chain", models.UUIDField(primary_key=True, serialize=False)),
                ("asked_at", models.DateTimeField(null=True)),
                ("at", models.DateTimeField(null=True)),
                ("seconds", models.FloatField(default=0)),
                ("events", models.BigIntegerField(default=0)),
                ("fault_count", models.IntegerField(default=0)),
                ("faults", models.JSONField(default=list)),
            ],
        ),
    ]
