from django.db import migrations

BATCH = 500
STATES = {"requested": "open", "approved": "approved", "rejected": "declined"}


def copy_approvals(apps, schema_editor):
    """Make a request of each version's approval; safe to run twice."""
    approval = apps.get_model("workspaces", "Approval")
    versions = apps.get_model("registry", "ModelVersion").objects.select_related("model")
    versions = versions.filter(approval__in=STATES).order_by("id")
    last = None
    while rows := list((versions.filter(id__gt=last) if last else versions)[:BATCH]):
        last = rows[-1].id
        copied = approval.objects.filter(kind="model", subject_id__in=[row.id for row in rows])
        known = set(copied.values_list("subject_id", flat=True))
        approval.objects.bulk_create(_request(approval, row) for row in rows if row.id not in known)


def _request(approval, row):
    is_decided = row.approval != "requested"
    return approval(
        org_id=row.org_id,
        kind="model",
        team_id=row.model.team_id,
        asker_id=row.requested_by_id or row.owner_id,
        subject_id=row.id,
        subject=f"{row.model.name} {row.version}",
        state=STATES[row.approval],
        created_at=row.requested_at or row.approval_at or row.created_at,
        decided_at=row.approval_at,
        decided_by=row.approval_by,
        why="" if is_decided else row.approval_note,
        word=row.approval_note if is_decided else "",
    )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("registry", "0001_initial"), ("workspaces", "0004_approvals")]

    operations = [
        migrations.RunPython(copy_approvals, migrations.RunPython.noop, elidable=True),
    ]
