"""Elect a leader through a row with an expiry time.

A lease is taken by one conditional UPDATE. It is lost when it is not renewed, or when its holder is
known to be dead.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.core import clock
from portal.core.lease_holder import is_dead
from portal.core.models import Lease


def take(name: str, holder: str, seconds: float) -> bool:
    """Take or renew the lease for `seconds`; return False while another holder may be alive."""
    at = clock.now()
    until = at + timedelta(seconds=seconds)
    if Lease.objects.filter(Q(holder=holder) | Q(until__lt=at), name=name).update(
        holder=holder, until=until
    ):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(name=name, holder=holder, until=until)
    except IntegrityError:
        return _take_over(name, holder, until)
    return True


def release(name: str, holder: str) -> None:
    """Release the lease, so that the next holder need not wait until it expires."""
    Lease.objects.filter(name=name, holder=holder).delete()


def _take_over(name: str, holder: str, until: datetime) -> bool:
    """Take over from a dead process on this host; at most one contender succeeds."""
    before = Lease.objects.filter(name=name).values_list("holder", flat=True).first()
    if before is None or not is_dead(before):
        return False
    return bool(Lease.objects.filter(name=name, holder=before).update(holder=holder, until=until))
