import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.db import migrations, models


def end_runs(apps, schema_editor):
    """Of the process before this one; from now on a provider has at most one that has not ended."""
    runs = apps.get_model("workspaces", "DirectoryRun").objects.using(
        schema_editor.connection.alias
    )
    runs.filter(outcome="running").update(
        outcome="failed",
        message="It was ended in the middle. The next run goes on where it stopped.",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0022_longer_signing_keys"),
    ]

    operations = [
        migrations.RunPython(end_runs, migrations.RunPython.noop, elidable=True),
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
                ("message", models.CharField(blank=True, max_length=1000)),
                ("facts", models.JSONField(default=dict)),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "default_manager_name": "objects",
            },
        ),
        migrations.AddField(
            model_name="directoryrun",
            name="accepted",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="directoryrun",
            name="is_dry",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="directoryrun",
            name="links",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="directoryrun",
            name="people_read",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="directoryrun",
            name="outcome",
            field=models.CharField(
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
        migrations.AddConstraint(
            model_name="directoryrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("outcome__in", ["queued", "running"])),
                fields=("provider",),
                name="directory_run_one_at_a_time",
            ),
        ),
        migrations.AddField(
            model_name="providertest",
            name="org",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workspaces.organization",
            ),
        ),
        migrations.AddField(
            model_name="providertest",
            name="provider",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workspaces.provider",
            ),
        ),
        migrations.AddIndex(
            model_name="providertest",
            index=models.Index(fields=["org", "started_at"], name="provider_test_last"),
        ),
    ]
