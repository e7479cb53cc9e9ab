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
            name="Cluster",
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
                ("backend", models.CharField(max_length=40)),
                ("config", models.JSONField(default=dict)),
                ("secrets", models.BinaryField(default=bytes)),
                ("version", models.CharField(blank=True, max_length=80)),
                ("is_enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("seen_at", models.DateTimeField(null=True)),
                ("counted_at", models.DateTimeField(null=True)),
                ("trouble", models.TextField(blank=True)),
                ("trouble_since", models.DateTimeField(null=True)),
                ("inventory", models.PositiveBigIntegerField(default=0)),
                ("plan", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="LocalUser",
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
                ("team_id", models.UUIDField(unique=True)),
                ("uid", models.PositiveIntegerField(unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="MigSettings",
            fields=[
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="mig",
                        serialize=False,
                        to="clusters.cluster",
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("off", "Off"),
                            ("agent", "Agent"),
                            ("label", "Label"),
                            ("hand", "Hand"),
                        ],
                        default="off",
                        max_length=10,
                    ),
                ),
                ("nodes_at_once", models.PositiveSmallIntegerField(default=1)),
                ("drain_minutes", models.PositiveIntegerField(default=1440)),
                ("change_minutes", models.PositiveIntegerField(default=20)),
                ("may_reconfigure", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="HealthPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("checks", models.JSONField(default=dict)),
                ("is_acting", models.BooleanField(default=True)),
                ("most_percent", models.PositiveSmallIntegerField(default=10)),
                ("most_per_hour", models.PositiveSmallIntegerField(default=10)),
                ("stopped_at", models.DateTimeField(null=True)),
                ("stopped_for", models.JSONField(default=dict)),
                ("reset_at", models.DateTimeField(null=True)),
                ("last_event", models.BigIntegerField(null=True)),
                ("evaluated_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="health_policy",
                        to="clusters.cluster",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MigPlan",
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
                ("wish", models.JSONField(default=dict)),
                ("missing", models.JSONField(default=dict)),
                ("only_nodes", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("applying", "Applying"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("undone", "Undone"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                ("method", models.CharField(blank=True, max_length=10)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("created_by", models.CharField(max_length=254)),
                ("started_at", models.DateTimeField(null=True)),
                ("started_by", models.CharField(blank=True, max_length=254)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mig_plans",
                        to="clusters.cluster",
                    ),
                ),
                (
                    "undoes",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="clusters.migplan",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "applying")),
                        fields=["cluster"],
                        name="mig_plan_applying",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Node",
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
                ("name", models.CharField(max_length=253)),
                ("cpus", models.PositiveIntegerField()),
                ("memory", models.BigIntegerField()),
                ("labels", models.JSONField(default=dict)),
                ("is_ready", models.BooleanField(default=True)),
                ("is_drained", models.BooleanField(default=False)),
                ("is_gone", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("partitions", models.JSONField(default=list)),
                ("used_cpus", models.PositiveIntegerField(default=0)),
                ("used_memory", models.BigIntegerField(default=0)),
                ("used_gpus", models.PositiveSmallIntegerField(default=0)),
                ("used_shares", models.PositiveIntegerField(default=0)),
                ("runs", models.JSONField(default=dict)),
                ("told", models.JSONField(default=dict)),
                ("seen_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="nodes",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name"), name="node_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="MigPlanNode",
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
                ("gpus", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("draining", "Draining"),
                            ("changing", "Changing"),
                            ("configuring", "Configuring"),
                            ("resuming", "Resuming"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("skipped", "Skipped"),
                        ],
                        default="waiting",
                        max_length=12,
                    ),
                ),
                ("since", models.DateTimeField(default=portal.core.clock.now)),
                ("work_id", models.UUIDField(default=portal.core.ids.uuid7)),
                ("was_drained", models.BooleanField(default=False)),
                ("drained_at", models.DateTimeField(null=True)),
                ("note", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("is_restored", models.BooleanField(default=False)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="nodes",
                        to="clusters.migplan",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="clusters.node",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "changing")),
                        fields=["node"],
                        name="mig_plan_changing",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "node"), name="mig_plan_node_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="HealthFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("gpu", models.SmallIntegerField(default=-1)),
                ("check_code", models.CharField(max_length=20)),
                ("params", models.JSONField(default=dict)),
                ("since", models.DateTimeField(default=portal.core.clock.now)),
                ("ended_at", models.DateTimeField(null=True)),
                ("is_muted", models.BooleanField(default=False)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="clusters.node",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("node", "gpu", "check_code"), name="health_finding_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Gpu",
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
                ("index", models.PositiveSmallIntegerField()),
                ("uuid", models.CharField(max_length=80)),
                ("model", models.CharField(max_length=80)),
                ("type", models.CharField(max_length=34)),
                ("memory", models.BigIntegerField()),
                ("compute", models.CharField(blank=True, max_length=10)),
                ("shares", models.PositiveIntegerField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gpus",
                        to="clusters.node",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("node", "uuid"), name="gpu_once")],
            },
        ),
        migrations.CreateModel(
            name="Device",
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
                ("index", models.PositiveSmallIntegerField()),
                ("uuid", models.CharField(max_length=80)),
                ("model", models.CharField(max_length=80)),
                ("type", models.CharField(max_length=34)),
                ("memory", models.BigIntegerField()),
                ("compute", models.CharField(blank=True, max_length=10)),
                ("serial", models.CharField(blank=True, max_length=40)),
                ("pci", models.CharField(blank=True, max_length=20)),
                ("numa", models.SmallIntegerField(null=True)),
                ("links", models.PositiveSmallIntegerField(null=True)),
                ("driver", models.CharField(blank=True, max_length=40)),
                ("mig", models.JSONField(null=True)),
                ("is_lost", models.BooleanField(default=False)),
                ("seen_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="devices",
                        to="clusters.node",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("node", "uuid"), name="device_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="NodeHealth",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(db_index=True, default="healthy", max_length=12)),
                ("since", models.DateTimeField(default=portal.core.clock.now)),
                ("check_code", models.CharField(blank=True, max_length=20)),
                ("gpu", models.PositiveSmallIntegerField(null=True)),
                ("params", models.JSONField(default=dict)),
                ("is_drained_by_rule", models.BooleanField(default=False)),
                ("acted_at", models.DateTimeField(null=True)),
                ("blocked", models.TextField(blank=True)),
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="health",
                        to="clusters.node",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Pool",
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
                ("labels", models.JSONField(default=dict)),
                ("partition", models.CharField(blank=True, max_length=80)),
                ("gpu_type", models.CharField(blank=True, max_length=34)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("is_open", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pools",
                        to="clusters.cluster",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PoolGrant",
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
                ("run_as", models.CharField(blank=True, max_length=64)),
                ("account", models.CharField(blank=True, max_length=100)),
                ("qos", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("ends_at", models.DateTimeField(null=True)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="clusters.pool",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.team",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("pool", "team"), name="pool_grant_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PoolReservation",
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
                ("name", models.CharField(max_length=40, unique=True)),
                ("gpu_type", models.CharField(max_length=34)),
                ("gpus", models.PositiveIntegerField()),
                ("nodes", models.JSONField(default=dict)),
                ("is_whole", models.BooleanField(default=False)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "Planned"),
                            ("pending", "Pending"),
                            ("active", "Active"),
                            ("failed", "Failed"),
                            ("ended", "Ended"),
                        ],
                        default="planned",
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("applied_at", models.DateTimeField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reservations",
                        to="clusters.cluster",
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
                    "pool",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="clusters.pool",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
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
                        condition=models.Q(("state", "ended"), _negated=True),
                        fields=["cluster", "ends_at"],
                        name="pool_reservation_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PoolRequest",
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
                ("gpu_type", models.CharField(max_length=34)),
                ("gpus", models.PositiveIntegerField()),
                ("purpose", models.CharField(blank=True, max_length=500)),
                ("budget", models.PositiveIntegerField(null=True)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("approved", "Approved"),
                            ("declined", "Declined"),
                            ("withdrawn", "Withdrawn"),
                            ("ended", "Ended"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=254)),
                ("word", models.CharField(blank=True, max_length=500)),
                ("granted_at", models.DateTimeField(null=True)),
                ("reminded", models.PositiveSmallIntegerField(null=True)),
                (
                    "asker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                    "pool",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="requests",
                        to="clusters.pool",
                    ),
                ),
                (
                    "renews",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="clusters.poolrequest",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.team",
                    ),
                ),
                (
                    "reservation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="requests",
                        to="clusters.poolreservation",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(fields=["org", "state", "-created_at"], name="pool_request_state"),
                    models.Index(
                        condition=models.Q(("state", "approved")),
                        fields=["ends_at"],
                        name="pool_request_running",
                    ),
                ],
            },
        ),
    ]
