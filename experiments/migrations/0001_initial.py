import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("jobs", "0001_initial"),
        ("workspaces", "0002_consent"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Experiment",
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
                ("number", models.PositiveBigIntegerField()),
                ("name", models.CharField(max_length=500)),
                ("description", models.TextField(blank=True)),
                ("tags", models.JSONField(default=dict)),
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
                "indexes": [
                    models.Index(fields=["org", "team", "-number"], name="experiment_team")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("org", "number"), name="experiment_number_once"
                    ),
                    models.UniqueConstraint(fields=("team", "name"), name="experiment_name_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("SCHEDULED", "Scheduled"),
                            ("RUNNING", "Running"),
                            ("FINISHED", "Finished"),
                            ("FAILED", "Failed"),
                            ("KILLED", "Killed"),
                        ],
                        default="RUNNING",
                        max_length=9,
                    ),
                ),
                ("started_ms", models.BigIntegerField()),
                ("ended_ms", models.BigIntegerField(null=True)),
                ("series_owner", models.CharField(max_length=60, unique=True)),
                ("params", models.JSONField(default=dict)),
                ("tags", models.JSONField(default=dict)),
                ("inputs", models.JSONField(default=list)),
                ("outputs", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("updated_at", models.DateTimeField(default=portal.core.clock.now)),
                ("archived_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.experiment",
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
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
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="experiments.run",
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
                "indexes": [
                    models.Index(
                        fields=["org", "experiment", "-started_ms", "-id"], name="run_experiment"
                    ),
                    models.Index(fields=["org", "team", "-started_ms", "-id"], name="run_team"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LoggedModel",
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
                ("name", models.CharField(max_length=500)),
                ("model_type", models.CharField(blank=True, max_length=500)),
                ("status", models.CharField(default="LOGGED_MODEL_PENDING", max_length=30)),
                ("params", models.JSONField(default=dict)),
                ("tags", models.JSONField(default=dict)),
                ("metrics", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("updated_at", models.DateTimeField(default=portal.core.clock.now)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.experiment",
                    ),
                ),
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
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="experiments.run",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(
                        fields=["org", "experiment", "-created_at", "-id"], name="logged_model"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EventFile",
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
                ("offset", models.BigIntegerField(default=0)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.run",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("run", "path"), name="event_file_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Artifact",
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
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "logged_model",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.loggedmodel",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="experiments.run",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("run__isnull", False)),
                        fields=("run", "path"),
                        name="artifact_path_of_run",
                        opclasses=["uuid_ops", "varchar_pattern_ops"],
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("logged_model__isnull", False)),
                        fields=("logged_model", "path"),
                        name="artifact_path_of_model",
                        opclasses=["uuid_ops", "varchar_pattern_ops"],
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("run__isnull", False),
                            ("logged_model__isnull", False),
                            _connector="XOR",
                        ),
                        name="artifact_has_one_owner",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Trace",
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
                ("trace_id", models.CharField(max_length=100)),
                ("state", models.CharField(default="STATE_UNSPECIFIED", max_length=20)),
                ("started_ms", models.BigIntegerField()),
                ("duration_ms", models.BigIntegerField(null=True)),
                ("client_request_id", models.CharField(blank=True, max_length=250)),
                ("request_preview", models.TextField(blank=True)),
                ("response_preview", models.TextField(blank=True)),
                ("tags", models.JSONField(default=dict)),
                ("metadata", models.JSONField(default=dict)),
                ("assessments", models.JSONField(default=list)),
                ("spans", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.experiment",
                    ),
                ),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="experiments.run",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(
                        fields=["org", "experiment", "-started_ms", "-id"], name="trace_experiment"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("org", "trace_id"), name="trace_once")
                ],
            },
        ),
    ]
