"""Announcements at the top of each page."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import Organization


class Announcement(models.Model):
    """A line of plain text for an organization, or for the installation (`org` null).

    Shown from `begins_at` to `ends_at`. Immutable. Written by `services.announcements`; those of
    the installation by operators only.
    """

    class Level(models.TextChoices):
        NOTE = "note"
        WARNING = "warning"
        TROUBLE = "trouble"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=8, choices=Level.choices, default=Level.NOTE)
    text = models.CharField(max_length=300)
    begins_at = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField(null=True)  # null: until it is removed
    made_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.text[:40]
