from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0024_provider_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="DurableEntry",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
            options={
                "db_table": "workspaces_durable",
            },
        ),
    ]
