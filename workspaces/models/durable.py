"""The table of the cache `durable`."""

from __future__ import annotations

from django.db import models


class DurableEntry(models.Model):
    """One entry of Django's DatabaseCache, in its columns. Written by `portal.settings.web.CACHES["durable"]`; what has expired is deleted
    by `workspaces.tasks.tidy`."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "workspaces_durable"

    def __str__(self) -> str:
        return self.cache_key
