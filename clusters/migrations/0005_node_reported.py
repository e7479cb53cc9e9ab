from django.db import migrations, models


class Migration(migrations.Migration):
    """The field has another name; its column keeps the old one."""

    dependencies = [
        ("clusters", "0004_request_states"),
    ]

    operations = [
        migrations.AlterField(
            model_name="node",
            name="told",
            field=models.JSONField(default=dict, db_column="told"),
        ),
        migrations.RenameField(
            model_name="node",
            old_name="told",
            new_name="reported",
        ),
    ]
