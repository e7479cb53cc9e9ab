from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0017_quota_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name="team",
            name="job_rules",
            field=models.JSONField(default=dict),
        ),
    ]
