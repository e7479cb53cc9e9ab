"""Table of the cache `durable`."""

from __future__ import annotations

from django.db import models


class DurableEntry(models.Model):
    """An entry of Django's DatabaseCache.

    Written by `portal.settings.web.CACHES["durable"]`; `workspaces.tasks.tidy` deletes expired
    entries.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "workspaces_durable"

    def __str__(self) -> str:
        return self.cache_key
