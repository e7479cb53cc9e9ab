from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0018_team_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="identity",
            name="email",
            field=models.CharField(blank=True, db_default="", default="", max_length=254),
        ),
    ]
