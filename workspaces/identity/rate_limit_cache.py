"""A database cache for entries that must survive: rate limits, device codes, used SAML assertions.

Neither clients nor a cache failure can remove them before they expire.
"""

from __future__ import annotations

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

from portal.core import clock
from workspaces.models import DurableEntry

durable = ConnectionProxy(caches, "durable")


def delete_expired() -> None:
    """Delete expired entries."""
    DurableEntry.objects.filter(expires__lt=clock.now()).delete()
