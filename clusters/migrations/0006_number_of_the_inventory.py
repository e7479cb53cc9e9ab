"""A number that rises with each write of a cluster's nodes or GPUs: by it what was made of them is kept."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0005_what_runs_there")]
    operations = [
        migrations.AddField(
            model_name="cluster", name="inventory", field=models.PositiveBigIntegerField(default=0)
        ),
    ]
