"""SCIM resources as received from an identity provider.

Users and roles follow from them by the same plan as from a directory.
"""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.providers import Provider


class ScimToken(models.Model):
    """The token of one provider's SCIM client.

    Only its HMAC is stored; a new one replaces the old. Written by
    `workspaces.identity.scim.tokens`.
    """

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
    """A user or group as the client wrote it.

    Deleted ones are kept but hidden: their users are suspended. Written by
    `workspaces.identity.scim.store`.
    """

    class Kind(models.TextChoices):
        USER = "User"
        GROUP = "Group"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=254)  # userName or displayName, in lower case
    external_id = models.CharField(max_length=254, blank=True)
    subject = models.CharField(max_length=400, blank=True)  # subject of a user's identity
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
