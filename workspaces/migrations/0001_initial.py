import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="DurableEntry",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
            options={
                "db_table": "workspaces_durable",
            },
        ),
        migrations.CreateModel(
            name="Organization",
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
                ("slug", models.SlugField(max_length=40, unique=True)),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("last_job_number", models.PositiveBigIntegerField(default=0)),
                ("last_experiment_number", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("requires_second_factor", models.BooleanField(default=False)),
                ("has_guide", models.BooleanField(db_default=True, default=True)),
            ],
        ),
        migrations.CreateModel(
            name="Provider",
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
                            ("ldap", "Ldap"),
                            ("oidc", "Oidc"),
                            ("saml", "Saml"),
                            ("scim", "Scim"),
                        ],
                        max_length=8,
                    ),
                ),
                ("slug", models.SlugField(max_length=100, unique=True)),
                ("short_name", models.SlugField(blank=True, default="", max_length=40)),
                ("name", models.CharField(max_length=100)),
                ("config", models.JSONField(default=dict)),
                ("secrets", models.BinaryField(default=bytes)),
                ("domains", models.JSONField(default=list)),
                ("is_enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("seen_at", models.DateTimeField(null=True)),
                ("trouble", models.TextField(blank=True)),
                ("trouble_since", models.DateTimeField(null=True)),
                (
                    "org",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("org", "short_name"), name="provider_name_once_in_org"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("org", None)),
                        fields=("short_name",),
                        name="provider_name_once_without_org",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SigningKey",
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
                ("sealed", models.BinaryField()),
                ("issued_at", models.DateTimeField(default=portal.core.clock.now)),
                ("signs_from", models.DateTimeField(default=portal.core.clock.now)),
                ("ends_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "id",
                    models.UUIDField(
                        default=portal.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("email", models.EmailField(max_length=254, unique=True)),
                ("name", models.CharField(blank=True, max_length=150)),
                ("is_active", models.BooleanField(default=True)),
                ("is_operator", models.BooleanField(default=False)),
                ("is_service", models.BooleanField(default=False)),
                ("has_second_factor", models.BooleanField(default=False)),
                ("suspended_at", models.DateTimeField(null=True)),
                (
                    "suspended_why",
                    models.CharField(blank=True, db_default="", default="", max_length=200),
                ),
                ("date_joined", models.DateTimeField(default=portal.core.clock.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_operator", True), ("is_service", True), _negated=True
                        ),
                        name="service_never_operates",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Impersonation",
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
                ("why", models.CharField(max_length=200)),
                ("began_at", models.DateTimeField(default=portal.core.clock.now)),
                ("ends_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "operator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Announcement",
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
                    "level",
                    models.CharField(
                        choices=[("note", "Note"), ("warning", "Warning"), ("trouble", "Trouble")],
                        default="note",
                        max_length=8,
                    ),
                ),
                ("text", models.CharField(max_length=300)),
                ("begins_at", models.DateTimeField(default=portal.core.clock.now)),
                ("ends_at", models.DateTimeField(null=True)),
                ("made_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "org",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ScimToken",
            fields=[
                (
                    "provider",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="workspaces.provider",
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(max_length=12)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("last_used_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
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
                ("role", models.CharField(default="member", max_length=40)),
                ("via", models.CharField(blank=True, max_length=400)),
                ("suspended_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "user",
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
                    "provider",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="workspaces.provider",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("org", "user"), name="membership_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Identity",
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
                ("subject", models.CharField(max_length=400)),
                ("login", models.CharField(blank=True, max_length=254)),
                ("email", models.CharField(blank=True, db_default="", default="", max_length=254)),
                ("groups", models.JSONField(default=list)),
                ("seen_at", models.DateTimeField(default=portal.core.clock.now)),
                ("gone_since", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to="workspaces.provider",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "subject"), name="identity_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DirectoryRun",
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
                ("started_at", models.DateTimeField(default=portal.core.clock.now)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("dry", "Dry"),
                            ("done", "Done"),
                            ("unchanged", "Unchanged"),
                            ("stopped", "Stopped"),
                            ("failed", "Failed"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("is_dry", models.BooleanField(default=False)),
                ("accepted", models.JSONField(default=list)),
                ("links", models.JSONField(default=dict)),
                ("people_read", models.PositiveIntegerField(default=0)),
                ("actor", models.CharField(blank=True, max_length=254)),
                ("message", models.TextField(blank=True)),
                ("counts", models.JSONField(default=dict)),
                ("lines", models.JSONField(default=list)),
                ("losses", models.JSONField(default=list)),
                ("clashes", models.JSONField(default=dict)),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="workspaces.provider",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["provider", "-started_at"], name="directory_run_last")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("outcome__in", ["queued", "running"])),
                        fields=("provider",),
                        name="directory_run_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderTest",
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
                ("kind", models.CharField(max_length=8)),
                ("options", models.BinaryField(default=bytes)),
                ("actor", models.CharField(max_length=254)),
                ("started_at", models.DateTimeField(default=portal.core.clock.now)),
                ("ended_at", models.DateTimeField(null=True)),
                ("is_ok", models.BooleanField(default=False)),
                ("message", models.TextField(blank=True)),
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
                    "provider",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.provider",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [models.Index(fields=["org", "started_at"], name="provider_test_last")],
            },
        ),
        migrations.CreateModel(
            name="Quota",
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
                    "scope",
                    models.CharField(
                        choices=[("org", "Org"), ("team", "Team"), ("user", "User")], max_length=8
                    ),
                ),
                ("subject_id", models.UUIDField()),
                ("resource", models.CharField(max_length=40)),
                ("limit", models.BigIntegerField(null=True)),
                ("guaranteed", models.BigIntegerField(db_default=0, default=0)),
                ("used", models.BigIntegerField(default=0)),
                ("promised", models.BigIntegerField(db_default=0, default=0)),
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
                    models.UniqueConstraint(
                        fields=("org", "scope", "subject_id", "resource"), name="quota_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("used__gte", 0)), name="quota_used_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("guaranteed__gte", 0), ("promised__gte", 0)),
                        name="quota_guarantee_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuotaRequest",
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
                ("scope", models.CharField(max_length=8)),
                ("subject_id", models.UUIDField()),
                ("subject", models.CharField(max_length=254)),
                ("resource", models.CharField(max_length=40)),
                ("amount", models.BigIntegerField()),
                ("why", models.CharField(blank=True, max_length=500)),
                ("job", models.PositiveBigIntegerField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("approved", "Approved"),
                            ("declined", "Declined"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=254)),
                ("word", models.CharField(blank=True, max_length=500)),
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "indexes": [
                    models.Index(fields=["org", "state", "-created_at"], name="quota_request_state")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("org", "asker", "scope", "subject_id", "resource"),
                        name="quota_request_open_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Role",
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
                ("slug", models.SlugField(max_length=40)),
                (
                    "kind",
                    models.CharField(choices=[("org", "org"), ("team", "team")], max_length=8),
                ),
                ("name", models.CharField(max_length=100)),
                ("permissions", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
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
                    models.UniqueConstraint(fields=("org", "slug"), name="role_slug_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ScimRecord",
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
                    models.CharField(choices=[("User", "User"), ("Group", "Group")], max_length=8),
                ),
                ("name", models.CharField(max_length=254)),
                ("external_id", models.CharField(blank=True, max_length=254)),
                ("subject", models.CharField(blank=True, max_length=400)),
                ("data", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("changed_at", models.DateTimeField(default=portal.core.clock.now)),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.provider",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["provider", "kind", "external_id"], name="scim_external_id"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("gone_at", None)),
                        fields=("provider", "kind", "name"),
                        name="scim_name_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Secret",
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
                ("newest", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("last_used_at", models.DateTimeField(null=True)),
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
            },
        ),
        migrations.CreateModel(
            name="SecretVersion",
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
                ("number", models.PositiveIntegerField()),
                ("sealed", models.BinaryField()),
                ("made_by", models.CharField(max_length=254)),
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
                    "secret",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.secret",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("secret", "number"), name="secret_version_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ServiceAccount",
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
                ("name", models.SlugField(max_length=40)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("made_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("org", "name"), name="service_account_name_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SignIn",
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
                ("key", models.CharField(max_length=40, unique=True)),
                ("agent", models.CharField(blank=True, max_length=200)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("last_seen_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SpentCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
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
                    models.UniqueConstraint(fields=("user", "digest"), name="code_spent_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Team",
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
                ("slug", models.SlugField(max_length=40)),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("job_rules", models.JSONField(default=dict)),
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
                    models.UniqueConstraint(fields=("org", "slug"), name="team_slug_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="secret",
            name="team",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workspaces.team",
            ),
        ),
        migrations.CreateModel(
            name="GroupRule",
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
                ("position", models.PositiveIntegerField()),
                ("group", models.CharField(max_length=400)),
                ("role", models.CharField(max_length=40)),
                (
                    "org",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="workspaces.provider",
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "position"), name="group_rule_position_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessToken",
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
                ("attempt_id", models.UUIDField(db_index=True, null=True)),
                ("name", models.CharField(max_length=100)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(max_length=12)),
                ("scopes", models.JSONField(default=list)),
                ("networks", models.JSONField(default=list)),
                ("made_by", models.CharField(blank=True, default="", max_length=254)),
                ("successor_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("expires_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("last_used_address", models.CharField(blank=True, default="", max_length=45)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "user",
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
                    "vouched_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="workspaces.provider",
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
            },
        ),
        migrations.CreateModel(
            name="TeamMembership",
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
                ("role", models.CharField(default="member", max_length=40)),
                ("via", models.CharField(blank=True, max_length=400)),
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
                    "provider",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="workspaces.provider",
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
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("team", "user"), name="team_membership_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
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
                ("email", models.EmailField(max_length=254)),
                ("name", models.CharField(blank=True, default="", max_length=100)),
                ("role", models.CharField(default="member", max_length=40)),
                ("teams", models.JSONField(default=list)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("sent_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("accepted_at", None), ("revoked_at", None)),
                        fields=("org", "email"),
                        name="invitation_open_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GpuMonth",
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
                    "scope",
                    models.CharField(
                        choices=[("org", "Org"), ("team", "Team"), ("user", "User")], max_length=8
                    ),
                ),
                ("subject_id", models.UUIDField()),
                ("month", models.DateField()),
                ("used", models.BigIntegerField(default=0)),
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
                    models.UniqueConstraint(
                        fields=("org", "scope", "subject_id", "month"), name="gpu_month_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("used__gte", 0)), name="gpu_month_not_negative"
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="secret",
            constraint=models.UniqueConstraint(
                condition=models.Q(("team__isnull", False)),
                fields=("team", "name"),
                name="secret_once_a_team",
            ),
        ),
        migrations.AddConstraint(
            model_name="secret",
            constraint=models.UniqueConstraint(
                condition=models.Q(("team__isnull", True)),
                fields=("org", "name"),
                name="secret_once_an_org",
            ),
        ),
    ]
