import django.db.models.deletion
import portal.core.clock
import portal.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    # Apart from the first: the tables of applications refer to people.
    dependencies = [
        ("workspaces", "0001_initial"),
        ("allauth_idp_oidc", "0003_client_allow_uri_wildcards"),
    ]

    operations = [
        migrations.CreateModel(
            name="Consent",
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
                ("scopes", models.JSONField(default=list)),
                ("given_at", models.DateTimeField(default=portal.core.clock.now)),
                (
                    "client",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="allauth_idp_oidc.client",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "client"), name="consent_once")
                ],
            },
        ),
    ]
