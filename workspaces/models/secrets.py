"""Secrets that jobs may use and nobody may read."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from workspaces.models.people import Team
from workspaces.tenancy.models import TenantModel

PURPOSE = "team secrets"


class Secret(TenantModel):
    """A named value of a team, or of all teams of the organization (`team` None).

    `newest` is the number of its last version; numbers are never reused. Written by
    `services.secrets`.
    """

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=63)
    newest = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    last_used_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(team__isnull=False),
                name="secret_once_a_team",
            ),
            models.UniqueConstraint(
                fields=["org", "name"],
                condition=models.Q(team__isnull=True),
                name="secret_once_an_org",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SecretVersion(TenantModel):
    """One value, encrypted by `portal.core.vault`. Immutable."""

    SEALED: ClassVar[dict[str, str]] = {"sealed": PURPOSE}  # for `manage.py rotate_secrets`

    secret = models.ForeignKey(Secret, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    sealed = models.BinaryField()
    made_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["secret", "number"], name="secret_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.secret_id}@{self.number}"
