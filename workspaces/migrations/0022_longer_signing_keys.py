from datetime import timedelta

from django.db import migrations
from django.db.models import F

TURN = timedelta(days=91)


def due(apps, schema_editor):
    """Keys of before are of 2048 bits: a longer one follows at the next use, with the time that readers of the old list have."""
    apps.get_model("workspaces", "SigningKey").objects.using(schema_editor.connection.alias).update(
        issued_at=F("issued_at") - TURN
    )


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0021_token_vouched_by"),
    ]

    operations = [
        migrations.RunPython(due, migrations.RunPython.noop, elidable=True),
    ]
