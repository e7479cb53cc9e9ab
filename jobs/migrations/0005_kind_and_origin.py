from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0004_portactivity")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="kind",
            field=models.CharField(db_default="batch", default="batch", max_length=16),
        ),
        migrations.AddField(
            model_name="job",
            name="origin_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="origin_kind",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
        migrations.AddField(
            model_name="job",
            name="origin_label",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("kind", "batch"), _negated=True),
                fields=["org", "kind", "-number"],
                name="job_kind",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("origin_kind", ""), _negated=True),
                fields=["org", "origin_kind", "origin_id", "-number"],
                name="job_origin",
            ),
        ),
    ]
