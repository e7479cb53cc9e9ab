import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0004_own_roles"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="is_service",
            field=models.BooleanField(default=False),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_operator", True), ("is_service", True), _negated=True),
                name="service_never_operates",
            ),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="networks",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="made_by",
            field=models.CharField(blank=True, default="", max_length=254),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="successor_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="last_used_address",
            field=models.CharField(blank=True, default="", max_length=45),
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
    ]
