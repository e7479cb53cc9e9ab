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
            name="Condition",
            fields=[
                ("key", models.CharField(max_length=120, primary_key=True, serialize=False)),
                ("since", models.DateTimeField(default=portal.core.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="Cursor",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("position", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="HandledEvent",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="Preference",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("kinds", models.JSONField(default=dict)),
                (
                    "pace",
                    models.CharField(
                        choices=[("now", "Now"), ("hourly", "Hourly"), ("daily", "Daily")],
                        default="now",
                        max_length=8,
                    ),
                ),
                ("daily_at", models.PositiveSmallIntegerField(default=480)),
                ("quiet_from", models.PositiveSmallIntegerField(null=True)),
                ("quiet_until", models.PositiveSmallIntegerField(null=True)),
                ("time_zone", models.CharField(blank=True, max_length=64)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("is_chosen", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Channel",
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
                        choices=[("webhook", "Webhook"), ("slack", "Slack"), ("teams", "Teams")],
                        max_length=8,
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("url", models.BinaryField()),
                ("host", models.CharField(max_length=260)),
                ("secret", models.BinaryField(default=bytes)),
                ("kinds", models.JSONField(default=list)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_at", models.DateTimeField(default=portal.core.clock.now)),
                ("trouble", models.TextField(blank=True)),
                ("disabled_at", models.DateTimeField(null=True)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("created_by", models.CharField(max_length=254)),
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
                (
                    "user",
                    models.ForeignKey(
                        null=True,
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
                "indexes": [
                    models.Index(fields=["user"], name="channel_user"),
                    models.Index(fields=["team"], name="channel_team"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("team", None), ("user__isnull", False)),
                            models.Q(("team__isnull", False), ("user", None)),
                            _connector="OR",
                        ),
                        name="channel_of_user_or_team",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
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
                ("event_id", models.UUIDField()),
                ("kind", models.CharField(max_length=40)),
                ("permission", models.CharField(blank=True, max_length=40)),
                ("team_id", models.UUIDField(null=True)),
                ("title", models.TextField()),
                ("body", models.TextField(blank=True)),
                ("path", models.CharField(max_length=300)),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sent", "Sent"),
                            ("failed", "Failed"),
                            ("dropped", "Dropped"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("due_at", models.DateTimeField(default=portal.core.clock.now)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("trouble", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=portal.core.clock.now)),
                ("sent_at", models.DateTimeField(null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="notifications.channel",
                    ),
                ),
                (
                    "org",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["due_at"],
                        name="delivery_due",
                    ),
                    models.Index(fields=["channel", "-id"], name="delivery_channel"),
                    models.Index(fields=["created_at"], name="delivery_created"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("channel__isnull", False)),
                        fields=("event_id", "channel"),
                        name="delivery_channel_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("channel", None)),
                        fields=("event_id", "user"),
                        name="delivery_mail_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
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
                ("event_id", models.UUIDField()),
                ("kind", models.CharField(max_length=40)),
                ("permission", models.CharField(blank=True, max_length=40)),
                ("team_id", models.UUIDField(null=True)),
                ("title", models.TextField()),
                ("body", models.TextField(blank=True)),
                ("path", models.CharField(max_length=300)),
                ("at", models.DateTimeField(default=portal.core.clock.now)),
                ("read_at", models.DateTimeField(null=True)),
                (
                    "org",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.organization",
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
                "indexes": [
                    models.Index(fields=["user", "-id"], name="notification_user"),
                    models.Index(
                        condition=models.Q(("read_at__isnull", True)),
                        fields=["user"],
                        name="notification_unread",
                    ),
                    models.Index(fields=["at"], name="notification_at"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("event_id", "user"), name="notification_once")
                ],
            },
        ),
    ]
