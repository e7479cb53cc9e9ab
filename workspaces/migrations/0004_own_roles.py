"""Roles of an organization's own making."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import portal.core.clock
import portal.core.ids


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0003_roles_by_name")]

    operations = [
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
    ]
