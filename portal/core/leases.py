"""Leadership by a row with an end: taken by one conditional UPDATE, lost by not renewing it."""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.core import clock
from portal.core.models import Lease


def take(name: str, holder: str, seconds: float) -> bool:
    """Hold or renew the lease for so long; False while somebody else holds it."""
    at = clock.now()
    until = at + timedelta(seconds=seconds)
    if Lease.objects.filter(Q(holder=holder) | Q(until__lt=at), name=name).update(holder=holder, until=until):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(name=name, holder=holder, until=until)
    except IntegrityError:
        return False
    return True


def release(name: str, holder: str) -> None:
    """Give it back, so that the next one need not wait for its end."""
    Lease.objects.filter(name=name, holder=holder).delete()
