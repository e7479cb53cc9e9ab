import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("workspaces", "0002_consent"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RegisteredModel",
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
                ("name", models.CharField(max_length=250)),
                ("description", models.TextField(blank=True)),
                ("tags", models.JSONField(default=dict)),
                ("aliases", models.JSONField(default=dict)),
                ("next_version", models.PositiveIntegerField(default=1)),
                ("requires_approval", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("updated_at", models.DateTimeField(default=portal.core.clock.now)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="workspaces.team",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [models.Index(fields=["org", "team", "name"], name="model_team")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("deleted_at", None)),
                        fields=("team", "name"),
                        name="model_name_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelVersion",
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
                ("version", models.PositiveIntegerField()),
                ("status", models.CharField(default="READY", max_length=30)),
                ("status_message", models.CharField(blank=True, max_length=500)),
                ("stage", models.CharField(default="None", max_length=20)),
                ("source", models.CharField(blank=True, max_length=1000)),
                ("stored_bytes", models.BigIntegerField(default=0)),
                ("run_id", models.UUIDField(db_index=True, null=True)),
                ("logged_model_id", models.UUIDField(db_index=True, null=True)),
                ("checkpoint_id", models.UUIDField(db_index=True, null=True)),
                ("description", models.TextField(blank=True)),
                ("tags", models.JSONField(default=dict)),
                ("signature", models.JSONField(null=True)),
                ("metrics", models.JSONField(default=dict)),
                ("inspection", models.JSONField(null=True)),
                ("acknowledged_by", models.CharField(blank=True, max_length=254)),
                (
                    "approval",
                    models.CharField(
                        choices=[
                            ("none", "None"),
                            ("requested", "Requested"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                        ],
                        default="none",
                        max_length=10,
                    ),
                ),
                ("requested_at", models.DateTimeField(null=True)),
                ("approval_by", models.CharField(blank=True, max_length=254)),
                ("approval_at", models.DateTimeField(null=True)),
                ("approval_note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("updated_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "promoted_from",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="registry.modelversion",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="registry.registeredmodel",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("model", "version"), name="model_version_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelFile",
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
                ("path", models.CharField(max_length=1000)),
                ("size", models.BigIntegerField()),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="registry.modelversion",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("version", "path"), name="model_file_once")
                ],
            },
        ),
    ]
