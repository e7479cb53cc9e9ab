"""Unique paths by indexes that also find the files below a folder."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0001_initial"),
        ("workspaces", "0003_organization_last_experiment_number"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="artifact",
            constraint=models.UniqueConstraint(
                condition=models.Q(("run__isnull", False)),
                fields=("run", "path"),
                name="artifact_path_of_run",
                opclasses=["uuid_ops", "varchar_pattern_ops"],
            ),
        ),
        migrations.AddConstraint(
            model_name="artifact",
            constraint=models.UniqueConstraint(
                condition=models.Q(("logged_model__isnull", False)),
                fields=("logged_model", "path"),
                name="artifact_path_of_model",
                opclasses=["uuid_ops", "varchar_pattern_ops"],
            ),
        ),
        migrations.RemoveConstraint(
            model_name="artifact",
            name="artifact_once_a_run",
        ),
        migrations.RemoveConstraint(
            model_name="artifact",
            name="artifact_once_a_model",
        ),
    ]
