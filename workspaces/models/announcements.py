"""What everybody is told at the top of each page."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import Organization


class Announcement(models.Model):
    """A line of plain text for the people of an organization, or of the whole installation (`org` null, operators only), from one moment
    until another. It never changes: another one is made. Written by `services.announcements`."""

    class Level(models.TextChoices):
        NOTE = "note"
        WARNING = "warning"
        TROUBLE = "trouble"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=8, choices=Level.choices, default=Level.NOTE)
    text = models.CharField(max_length=300)
    begins_at = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField(null=True)  # none: until somebody removes it
    made_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.text[:40]
