"""The system user of each team on the portal's own machine."""

from django.db import migrations, models

import portal.core.ids


class Migration(migrations.Migration):
    dependencies = [("clusters", "0006_number_of_the_inventory")]
    operations = [
        migrations.CreateModel(
            name="LocalUser",
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
                ("team_id", models.UUIDField(unique=True)),
                ("uid", models.PositiveIntegerField(unique=True)),
            ],
        ),
    ]
