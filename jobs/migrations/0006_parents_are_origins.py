"""The job that another one reruns becomes its origin."""

from typing import Any

from django.db import migrations
from django.db.models import CharField, F, OuterRef, Subquery, Value
from django.db.models.functions import Cast, Concat

BATCH = 1000


def copy(apps: Any, schema_editor: Any) -> None:
    jobs = apps.get_model("jobs", "Job").objects.using(schema_editor.connection.alias)
    number = Subquery(jobs.filter(id=OuterRef("parent_id")).values("number")[:1])
    label = Concat(Value("#"), Cast(number, CharField()))
    rest = jobs.filter(parent__isnull=False, origin_kind="").order_by()
    while ids := list(rest.values_list("id", flat=True)[:BATCH]):
        jobs.filter(id__in=ids).update(
            origin_kind="rerun", origin_id=F("parent_id"), origin_label=label
        )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("jobs", "0005_kind_and_origin")]

    operations = [migrations.RunPython(copy, migrations.RunPython.noop, elidable=True)]
