import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0020_gpu_hours"),
    ]

    operations = [
        migrations.AddField(
            model_name="accesstoken",
            name="vouched_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="workspaces.provider",
            ),
        ),
    ]
