import django.db.models.deletion
import portal.core.clock
import portal.core.ids
import schedulers.states
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("clusters", "0001_initial"),
        ("datasets", "0001_initial"),
        ("workspaces", "0002_consent"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GpuCapacity",
            fields=[
                ("start", models.DateTimeField(primary_key=True, serialize=False)),
                ("gpus", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="NodeUtilization",
            fields=[
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="clusters.node",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("gpus", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="Attempt",
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
                ("index", models.PositiveIntegerField(default=0)),
                ("ordinal", models.PositiveSmallIntegerField(default=1)),
                ("is_current", models.BooleanField(default=True)),
                ("priority", models.SmallIntegerField(default=0)),
                (
                    "state",
                    models.PositiveSmallIntegerField(default=schedulers.states.State["QUEUED"]),
                ),
                ("state_at", models.DateTimeField(default=portal.core.clock.now)),
                ("queued_at", models.DateTimeField(default=portal.core.clock.now)),
                ("due_at", models.DateTimeField(default=portal.core.clock.now, null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("has_reservation", models.BooleanField(default=False)),
                ("placement", models.JSONField(null=True)),
                ("avoid", models.JSONField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("native_id", models.CharField(blank=True, max_length=253)),
                ("node", models.CharField(blank=True, max_length=253)),
                ("nodes", models.JSONField(null=True)),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("missing_since", models.DateTimeField(null=True)),
                ("stop_sent_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=32)),
                ("evidence", models.TextField(blank=True)),
                ("exit_code", models.IntegerField(null=True)),
                ("signal", models.SmallIntegerField(null=True)),
                ("peak_memory", models.BigIntegerField(null=True)),
                ("wait", models.CharField(blank=True, max_length=32)),
                ("wait_facts", models.JSONField(default=dict)),
                ("wait_since", models.DateTimeField(null=True)),
                ("is_log_sealed", models.BooleanField(default=False)),
                ("log_bytes", models.BigIntegerField(null=True)),
                ("is_forgotten", models.BooleanField(default=False)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", schedulers.states.State["QUEUED"])),
                        fields=["cluster", "-priority", "queued_at", "id"],
                        name="attempt_due",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("state__gt", schedulers.states.State["QUEUED"]),
                            ("state__lt", schedulers.states.State["SUCCEEDED"]),
                        ),
                        fields=["cluster", "state"],
                        name="attempt_active",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("is_forgotten", False),
                            ("state__gte", schedulers.states.State["SUCCEEDED"]),
                        ),
                        fields=["cluster"],
                        name="attempt_unforgotten",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="attempt_finished",
                    ),
                    models.Index(
                        condition=models.Q(("is_log_sealed", True), ("log_bytes", None)),
                        fields=["id"],
                        name="attempt_uncounted",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IdleRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_enabled", models.BooleanField(default=True)),
                (
                    "metric",
                    models.CharField(
                        choices=[
                            ("auto", "Auto"),
                            ("sm", "Sm"),
                            ("power", "Power"),
                            ("utilization", "Utilization"),
                        ],
                        default="auto",
                        max_length=12,
                    ),
                ),
                ("threshold", models.PositiveSmallIntegerField(default=5)),
                ("watts", models.PositiveIntegerField(null=True)),
                ("window", models.PositiveIntegerField(default=60)),
                (
                    "action",
                    models.CharField(
                        choices=[("warn", "Warn"), ("lower", "Lower"), ("stop", "Stop")],
                        default="warn",
                        max_length=8,
                    ),
                ),
                ("grace", models.PositiveIntegerField(default=30)),
                ("exempt", models.JSONField(default=list)),
                ("spares_exec", models.BooleanField(default=True)),
                ("changed_at", models.DateTimeField(default=portal.core.clock.now)),
                ("changed_by", models.CharField(max_length=254)),
                (
                    "pool",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="idle_rule",
                        to="clusters.pool",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Job",
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
                ("place_why", models.TextField(blank=True)),
                ("name", models.CharField(max_length=100)),
                ("spec", models.JSONField()),
                ("labels", models.JSONField(default=dict)),
                ("priority", models.SmallIntegerField(default=0)),
                ("resources", models.JSONField(default=dict)),
                ("array_size", models.PositiveIntegerField(null=True)),
                ("max_parallel", models.PositiveIntegerField(null=True)),
                ("is_held", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("cancel_asked_at", models.DateTimeField(null=True)),
                ("cancel_asked_by", models.CharField(blank=True, max_length=254)),
                ("log_delete_asked_at", models.DateTimeField(null=True)),
                (
                    "log_delete_asked_by",
                    models.CharField(blank=True, db_default="", default="", max_length=254),
                ),
                ("log_deleted_at", models.DateTimeField(null=True)),
                (
                    "state",
                    models.PositiveSmallIntegerField(default=schedulers.states.State["QUEUED"]),
                ),
                ("state_at", models.DateTimeField(default=portal.core.clock.now)),
                ("reason", models.CharField(blank=True, max_length=32)),
                ("evidence", models.TextField(blank=True)),
                ("exit_code", models.IntegerField(null=True)),
                ("node", models.CharField(blank=True, max_length=253)),
                ("nodes", models.JSONField(null=True)),
                ("wait", models.CharField(blank=True, max_length=32)),
                ("attempt_count", models.PositiveIntegerField(default=1)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("run_state", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
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
                        to="jobs.job",
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
                    models.Index(fields=["org", "state", "-number"], name="job_state"),
                    models.Index(fields=["org", "team", "-number"], name="job_team"),
                    models.Index(fields=["org", "owner", "-number"], name="job_owner"),
                    models.Index(fields=["org", "name", "-number"], name="job_name"),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["org", "finished_at"],
                        name="job_finished",
                    ),
                    models.Index(
                        condition=models.Q(("started_at__isnull", False)),
                        fields=["org", "started_at"],
                        name="job_started",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("log_delete_asked_at__isnull", False), ("log_deleted_at", None)
                        ),
                        fields=["log_delete_asked_at"],
                        name="job_log_deleting",
                    ),
                    models.Index(
                        condition=models.Q(("run_state", models.F("state")), _negated=True),
                        fields=["id"],
                        name="job_unfollowed",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("org", "number"), name="job_number_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ImageEnd",
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
                ("digest", models.CharField(max_length=140)),
                ("gpu", models.CharField(max_length=80)),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("org", "digest", "gpu"), name="image_end_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="IdleCase",
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
                ("warned_at", models.DateTimeField(null=True)),
                ("acts_at", models.DateTimeField(null=True)),
                ("acted_at", models.DateTimeField(null=True)),
                ("action", models.CharField(blank=True, max_length=8)),
                ("keep_until", models.DateTimeField(null=True)),
                ("kept_by", models.CharField(blank=True, max_length=254)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="idle_case",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Dependency",
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
                ("condition", models.CharField(default="ok", max_length=8)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "needs",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("job", "needs"), name="dependency_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="AttemptUtilization",
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
                ("at", models.DateTimeField()),
                ("utilization", models.FloatField(null=True)),
                ("gpus", models.JSONField(default=dict)),
                ("recent", models.JSONField(default=list)),
                ("recorded_until", models.BigIntegerField()),
                ("idle_since", models.DateTimeField(null=True)),
                (
                    "attempt",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="jobs.attempt",
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
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(
                        condition=models.Q(("idle_since__isnull", False)),
                        fields=["org", "idle_since"],
                        name="attempt_idle",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="attempt",
            name="job",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="attempts", to="jobs.job"
            ),
        ),
        migrations.CreateModel(
            name="JobInput",
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
                ("name", models.CharField(max_length=63)),
                ("kind", models.CharField(max_length=10)),
                ("repository", models.CharField(max_length=96)),
                ("number", models.PositiveIntegerField()),
                ("commit", models.CharField(max_length=40)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="inputs",
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
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets.version",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [models.Index(fields=["org", "commit"], name="job_input_commit")],
                "constraints": [
                    models.UniqueConstraint(fields=("job", "name"), name="job_input_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="JobOutput",
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
                ("index", models.PositiveIntegerField(default=0)),
                ("name", models.CharField(max_length=64)),
                ("is_over", models.BooleanField(default=True)),
                ("is_resumed", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("saving", "Saving"),
                            ("saved", "Saved"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("message", models.TextField(blank=True)),
                ("saved_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("lease", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("seen", models.BinaryField(default=bytes)),
                (
                    "attempt",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.attempt",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outputs",
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
                    "repository",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets.repository",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets.version",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_over", False)),
                        fields=["attempt"],
                        name="job_output_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("job", "index", "name"), name="job_output_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="JobWorkspace",
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
                ("name", models.CharField(max_length=63)),
                ("workspace", models.CharField(max_length=96)),
                ("read_only", models.BooleanField(default=False)),
                (
                    "folder",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets.sharedfolder",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workspaces",
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("job", "name"), name="job_workspace_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingSpell",
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
                ("wait", models.CharField(max_length=32)),
                ("facts", models.JSONField(default=dict)),
                ("since", models.DateTimeField(default=portal.core.clock.now)),
                ("until", models.DateTimeField(null=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spells",
                        to="jobs.attempt",
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [models.Index(fields=["attempt", "since"], name="spell_attempt")],
            },
        ),
        migrations.CreateModel(
            name="GpuTime",
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
                ("start", models.DateTimeField()),
                ("allocated", models.BigIntegerField()),
                ("measured", models.BigIntegerField()),
                ("used", models.BigIntegerField()),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
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
                    models.UniqueConstraint(fields=("org", "start", "team"), name="gpu_time_once")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                fields=("job", "index", "ordinal"), name="attempt_once"
            ),
        ),
    ]
