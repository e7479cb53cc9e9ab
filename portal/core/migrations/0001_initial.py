import portal.core.clock
import portal.core.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
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
        migrations.CreateModel(
            name="AuditPolicy",
            fields=[
                ("chain", models.UUIDField(primary_key=True, serialize=False)),
                ("keep_days", models.PositiveIntegerField(null=True)),
                ("trouble", models.TextField(blank=True, default="")),
            ],
        ),
        migrations.CreateModel(
            name="Installation",
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
                ("key_mac", models.CharField(max_length=64)),
                ("home_id", models.CharField(blank=True, max_length=32)),
                ("home", models.CharField(blank=True, max_length=500)),
            ],
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("holder", models.CharField(max_length=100)),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="RememberedAnswer",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("body_hash", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("body", models.JSONField(null=True)),
                ("at", models.DateTimeField(db_index=True, default=portal.core.clock.now)),
            ],
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
                ],
            },
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
                ("trouble", models.TextField(blank=True, default="")),
                ("dead_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("created_by", models.CharField(max_length=254)),
            ],
            options={
                "indexes": [models.Index(fields=["chain"], name="audit_forward_chain")],
            },
        ),
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
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("position", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "id",
                    models.UUIDField(default=portal.core.ids.uuid7, editable=False, unique=True),
                ),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
                ("kind", models.CharField(max_length=64)),
                ("org_id", models.UUIDField(null=True)),
                ("actor", models.CharField(blank=True, max_length=254)),
                (
                    "on_behalf_of",
                    models.CharField(blank=True, db_default="", default="", max_length=254),
                ),
                ("via", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("address", models.CharField(blank=True, db_default="", default="", max_length=45)),
                ("subject_type", models.CharField(blank=True, max_length=32)),
                ("subject_id", models.UUIDField(null=True)),
                ("data", models.JSONField(default=dict)),
                ("request_id", models.CharField(blank=True, max_length=36)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["subject_id", "position"], name="event_subject"),
                    models.Index(fields=["org_id", "-position"], name="event_org"),
                ],
            },
        ),
    ]
