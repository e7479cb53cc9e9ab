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
            name="FleetJobDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("facts", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="FleetQueueHour",
            fields=[
                ("hour", models.DateTimeField(primary_key=True, serialize=False)),
                ("queued", models.PositiveIntegerField()),
                ("running", models.PositiveIntegerField()),
                ("longest", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Progress",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("position", models.BigIntegerField(default=0)),
                ("through", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="FleetGpuTime",
            fields=[
                ("hour", models.DateTimeField()),
                ("is_day", models.BooleanField(default=False)),
                ("cluster_id", models.UUIDField()),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("gpu_class", models.CharField(max_length=40)),
                ("used", models.BigIntegerField(default=0)),
                ("idle", models.BigIntegerField(default=0)),
                ("underused", models.BigIntegerField(default=0)),
                ("unmeasured", models.BigIntegerField(default=0)),
                ("reserved", models.BigIntegerField(default=0)),
                (
                    "id",
                    models.UUIDField(
                        default=portal.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("capacity", models.BigIntegerField()),
                ("unusable", models.BigIntegerField(default=0)),
                ("free", models.BigIntegerField(default=0)),
                ("unhealthy", models.BigIntegerField(default=0)),
                ("energy", models.BigIntegerField(default=0)),
                ("metered", models.BigIntegerField(default=0)),
                ("watts", models.FloatField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("is_day", "hour", "cluster_id", "pool", "gpu_class"),
                        name="fleet_gpu_time_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
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
                ("currency", models.CharField(max_length=3)),
                ("resource", models.CharField(max_length=40)),
                ("starts_on", models.DateField()),
                ("amount", models.DecimalField(decimal_places=8, max_digits=18)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("currency", "resource", "starts_on"), name="usage_price_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0)), name="usage_price_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AttemptGpuTime",
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
                ("attempt_id", models.UUIDField()),
                ("job_id", models.UUIDField()),
                ("hour", models.DateTimeField()),
                ("is_day", models.BooleanField(default=False)),
                ("cluster_id", models.UUIDField()),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("gpu_class", models.CharField(max_length=40)),
                ("gpus", models.PositiveIntegerField()),
                ("used", models.BigIntegerField(default=0)),
                ("idle", models.BigIntegerField(default=0)),
                ("underused", models.BigIntegerField(default=0)),
                ("unmeasured", models.BigIntegerField(default=0)),
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
                "indexes": [
                    models.Index(fields=["is_day", "hour"], name="attempt_gpu_time_hour"),
                    models.Index(fields=["job_id"], name="attempt_gpu_time_job"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("attempt_id", "is_day", "hour"), name="attempt_gpu_time_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BillingAccount",
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
                ("currency", models.CharField(max_length=3)),
                (
                    "mode",
                    models.CharField(
                        choices=[("showback", "Showback"), ("chargeback", "Chargeback")],
                        default="showback",
                        max_length=10,
                    ),
                ),
                ("address", models.TextField(blank=True, max_length=1000)),
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
                    models.UniqueConstraint(fields=("org",), name="billing_account_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Budget",
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
                ("amount", models.DecimalField(decimal_places=2, max_digits=18)),
                ("stops", models.BooleanField(default=False)),
                ("month", models.DateField(null=True)),
                ("spent", models.DecimalField(decimal_places=2, default=0, max_digits=18)),
                ("reached", models.PositiveSmallIntegerField(default=0)),
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
                        null=True,
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
                    models.UniqueConstraint(
                        condition=models.Q(("team__isnull", False)),
                        fields=("team",),
                        name="budget_team_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("team", None)), fields=("org",), name="budget_org_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangedDay",
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
                ("day", models.DateField()),
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
                    models.UniqueConstraint(fields=("org", "day"), name="changed_day_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Credit",
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
                ("currency", models.CharField(max_length=3)),
                ("amount", models.DecimalField(decimal_places=2, max_digits=18)),
                ("used", models.DecimalField(decimal_places=2, default=0, max_digits=18)),
                ("starts_on", models.DateField()),
                ("note", models.CharField(blank=True, max_length=200)),
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
                    "team",
                    models.ForeignKey(
                        null=True,
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
                    models.CheckConstraint(
                        condition=models.Q(("used__gte", 0), ("used__lte", models.F("amount"))),
                        name="credit_not_overdrawn",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Discount",
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
                ("percent", models.DecimalField(decimal_places=2, max_digits=5)),
                ("starts_on", models.DateField()),
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
                        null=True,
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
                    models.CheckConstraint(
                        condition=models.Q(("percent__gte", 0), ("percent__lte", 100)),
                        name="discount_is_percent",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("team__isnull", False)),
                        fields=("team", "starts_on"),
                        name="discount_team_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("team", None)),
                        fields=("org", "starts_on"),
                        name="discount_org_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobDay",
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
                ("day", models.DateField()),
                ("facts", models.JSONField(default=dict)),
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
                        null=True,
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
                    models.UniqueConstraint(
                        condition=models.Q(("team__isnull", False)),
                        fields=("team", "day"),
                        name="job_day_team_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("team", None)),
                        fields=("org", "day"),
                        name="job_day_org_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerLine",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("job", "Job"),
                            ("reservation", "Reservation"),
                            ("storage", "Storage"),
                        ],
                        max_length=12,
                    ),
                ),
                ("source", models.UUIDField()),
                ("user_id", models.UUIDField(null=True)),
                ("job_id", models.UUIDField(null=True)),
                ("job_number", models.PositiveBigIntegerField(null=True)),
                ("cluster_id", models.UUIDField(null=True)),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("resource", models.CharField(max_length=40)),
                ("day", models.DateField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("units", models.BigIntegerField()),
                ("quantity", models.BigIntegerField()),
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
                "indexes": [
                    models.Index(fields=["org", "day"], name="ledger_day"),
                    models.Index(
                        condition=models.Q(("job_id__isnull", False)),
                        fields=["job_id"],
                        name="ledger_job",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("source", "resource", "day"), name="ledger_line_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="QueueHour",
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
                ("hour", models.DateTimeField()),
                ("queued", models.PositiveIntegerField()),
                ("running", models.PositiveIntegerField()),
                ("longest", models.PositiveIntegerField()),
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
                "indexes": [models.Index(fields=["org", "hour"], name="queue_hour")],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "hour"), name="queue_hour_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Statement",
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
                ("number", models.CharField(max_length=80)),
                ("month", models.DateField()),
                ("currency", models.CharField(max_length=3)),
                ("total", models.DecimalField(decimal_places=2, max_digits=18)),
                ("issued_at", models.DateTimeField(default=portal.core.clock.now)),
                ("issued_by", models.CharField(max_length=254)),
                ("document", models.JSONField()),
                ("sha256", models.CharField(max_length=64)),
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
                    models.UniqueConstraint(fields=("org", "month"), name="statement_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TeamGpuTime",
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
                ("hour", models.DateTimeField()),
                ("is_day", models.BooleanField(default=False)),
                ("cluster_id", models.UUIDField()),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("gpu_class", models.CharField(max_length=40)),
                ("used", models.BigIntegerField(default=0)),
                ("idle", models.BigIntegerField(default=0)),
                ("underused", models.BigIntegerField(default=0)),
                ("unmeasured", models.BigIntegerField(default=0)),
                ("reserved", models.BigIntegerField(default=0)),
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
                    models.UniqueConstraint(
                        fields=("org", "is_day", "hour", "team", "cluster_id", "pool", "gpu_class"),
                        name="team_gpu_time_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("job", "Job"),
                            ("reservation", "Reservation"),
                            ("storage", "Storage"),
                        ],
                        max_length=12,
                    ),
                ),
                ("user_id", models.UUIDField(null=True)),
                ("cluster_id", models.UUIDField(null=True)),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("resource", models.CharField(max_length=40)),
                ("day", models.DateField()),
                ("quantity", models.BigIntegerField()),
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
                "indexes": [models.Index(fields=["org", "day"], name="usage_day")],
            },
        ),
        migrations.CreateModel(
            name="DashboardLayout",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("page", models.CharField(max_length=20)),
                ("panels", models.CharField(max_length=400)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "page"), name="dashboard_layout_once")
                ],
            },
        ),
    ]
