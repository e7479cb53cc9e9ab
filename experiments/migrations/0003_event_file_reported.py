from django.db import migrations, models


class Migration(migrations.Migration):
    """The field has another name; its column keeps the old one."""

    dependencies = [
        ("experiments", "0002_event_file_gaps"),
    ]

    operations = [
        migrations.AlterField(
            model_name="eventfile",
            name="told",
            field=models.BigIntegerField(default=0, db_column="told"),
        ),
        migrations.RenameField(
            model_name="eventfile",
            old_name="told",
            new_name="reported_bytes",
        ),
    ]
