from django.db import migrations, models


class Migration(migrations.Migration):
    """Events say from where they were asked for, with what, and for whom."""

    dependencies = [("core", "0001_initial")]
    operations = [
        migrations.AddField(
            "event",
            "on_behalf_of",
            models.CharField(max_length=254, blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            "event", "via", models.CharField(max_length=150, blank=True, default="", db_default="")
        ),
        migrations.AddField(
            "event",
            "address",
            models.CharField(max_length=45, blank=True, default="", db_default=""),
        ),
    ]
