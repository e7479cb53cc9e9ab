"""What is kept of a closed log is counted, and logs can be deleted."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_longer_native_ids")]

    operations = [
        migrations.AddField("attempt", "log_bytes", models.BigIntegerField(null=True)),
        migrations.AddField("job", "log_delete_asked_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "job",
            "log_delete_asked_by",
            models.CharField(blank=True, db_default="", default="", max_length=254),
        ),
        migrations.AddField("job", "log_deleted_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "attempt",
            models.Index(
                condition=models.Q(("is_log_sealed", True), ("log_bytes", None)),
                fields=["id"],
                name="attempt_uncounted",
            ),
        ),
        migrations.AddIndex(
            "job",
            models.Index(
                condition=models.Q(
                    ("log_delete_asked_at__isnull", False), ("log_deleted_at", None)
                ),
                fields=["log_delete_asked_at"],
                name="job_log_deleting",
            ),
        ),
    ]
