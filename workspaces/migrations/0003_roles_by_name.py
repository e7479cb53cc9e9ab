"""A role is kept by its name, which may be one of the organization's own making."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0002_providers")]

    operations = [
        migrations.AlterField(
            "membership", "role", models.CharField(default="member", max_length=40)
        ),
        migrations.AlterField(
            "teammembership", "role", models.CharField(default="member", max_length=40)
        ),
    ]
