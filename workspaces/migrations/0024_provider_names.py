from django.db import migrations, models


def name(apps, schema_editor):
    """What is there keeps its name and its addresses. Where several organizations have one domain, the provider that was made first keeps
    it for its organization. Each row is written once: PostgreSQL makes no index on rows that one transaction has changed twice."""
    owners = {}
    for row in (
        apps.get_model("workspaces", "Provider")
        .objects.using(schema_editor.connection.alias)
        .order_by("created_at", "id")
    ):
        kept = [
            domain for domain in row.domains if owners.setdefault(domain, row.org_id) == row.org_id
        ]
        if kept != row.domains:
            print(
                f"\n  {row.slug} no longer has {', '.join(sorted({*row.domains} - {*kept}))}: another organization has it longer.",
                end="",
            )
        row.short_name, row.domains = row.slug, kept
        row.save(update_fields=["short_name", "domains"])


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0023_directory_queue"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="short_name",
            field=models.SlugField(blank=True, default="", max_length=40),
        ),
        migrations.AlterField(
            model_name="provider",
            name="slug",
            field=models.SlugField(max_length=100, unique=True),
        ),
        migrations.RunPython(name, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.UniqueConstraint(
                fields=("org", "short_name"), name="provider_name_once_in_org"
            ),
        ),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.UniqueConstraint(
                condition=models.Q(("org", None)),
                fields=("short_name",),
                name="provider_name_once_without_org",
            ),
        ),
    ]
