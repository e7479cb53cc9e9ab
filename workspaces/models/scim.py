"""What an identity provider told by SCIM. People and their roles follow from it by the same plan as from a directory."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.providers import Provider


class ScimToken(models.Model):
    """With what one provider's SCIM client comes. Only its HMAC is stored; a new one ends the former.
    Written by `workspaces.identity.scim.tokens`."""

    provider = models.OneToOneField(
        Provider, primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    created_at = models.DateTimeField(default=clock.now)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}…"


class ScimRecord(models.Model):
    """One user or group as the other side wrote it. Removed ones stay, hidden: their people are suspended, not forgotten.
    Written by `workspaces.identity.scim.store`."""

    class Kind(models.TextChoices):
        USER = "User"
        GROUP = "Group"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=254)  # userName or displayName, in small letters
    external_id = models.CharField(max_length=254, blank=True)
    subject = models.CharField(max_length=400, blank=True)  # of a user's identity
    data = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    changed_at = models.DateTimeField(default=clock.now)
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "kind", "name"],
                condition=models.Q(gone_at=None),
                name="scim_name_once",
            )
        ]
        indexes = [
            models.Index(fields=["provider", "kind", "external_id"], name="scim_external_id")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
