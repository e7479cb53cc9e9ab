"""Kubernetes' name of an attempt is namespace, name and uid: up to 153 characters."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0005_several_nodes")]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="native_id",
            field=models.CharField(blank=True, max_length=253),
        ),
    ]
