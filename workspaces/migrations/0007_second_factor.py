import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0006_secrets"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="has_second_factor",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="organization",
            name="requires_second_factor",
            field=models.BooleanField(default=False),
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
    ]
