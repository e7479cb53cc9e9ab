import django.db.models.deletion
import portal.core.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0019_identity_email"),
    ]

    operations = [
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
    ]
