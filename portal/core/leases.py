"""Leadership by a row with an end: taken by one conditional UPDATE, lost by not renewing it, or by dying where it can be proved."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.core import clock
from portal.core.lease_holder import is_dead
from portal.core.models import Lease


def take(name: str, holder: str, seconds: float) -> bool:
    """Hold or renew the lease for so long; False while somebody else holds it, who may still live."""
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
        return _inherit(name, holder, until)
    return True


def release(name: str, holder: str) -> None:
    """Give it back, so that the next one need not wait for its end."""
    Lease.objects.filter(name=name, holder=holder).delete()


def _inherit(name: str, holder: str, until: datetime) -> bool:
    """From a holder of this machine whose process is gone; of several heirs one gets it."""
    before = Lease.objects.filter(name=name).values_list("holder", flat=True).first()
    if before is None or not is_dead(before):
        return False
    return bool(Lease.objects.filter(name=name, holder=before).update(holder=holder, until=until))
