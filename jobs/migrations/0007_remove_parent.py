from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_parents_are_origins")]

    operations = [migrations.RemoveField(model_name="job", name="parent")]
