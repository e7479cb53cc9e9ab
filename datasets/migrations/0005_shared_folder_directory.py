from __future__ import annotations

from django.db import migrations, models

import portal.core.ids


class Migration(migrations.Migration):
    dependencies = [("datasets", "0004_imports")]

    operations = [
        # Folders that exist are named after their id.
        migrations.AddField(
            "sharedfolder", "directory", models.CharField(default="", max_length=32)
        ),
        migrations.AlterField(
            "sharedfolder",
            "directory",
            models.CharField(default=portal.core.ids.unguessable, max_length=32),
        ),
        migrations.AlterField("folderlock", "token", models.CharField(max_length=128, unique=True)),
    ]
