"""The loops of the audit trail: one seals, one looks through what was sealed. They are named in `MUSTER_AUDIT_LOOPS`: threads of the
embedded process, and of the watcher's in server mode. One of each leads by lease."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Self
from uuid import UUID

from django.db.models import F, Q

from portal.core import clock, leases
from portal.core.audit.anchors import Anchorer, chains
from portal.core.audit.forwarding import forward_all
from portal.core.audit.models import AuditCheck
from portal.core.audit.sealing import Sealer
from portal.core.audit.verify import remember, verify
from portal.core.lease_holder import new_holder

LEASE, RENEW = 60.0, 20.0  # seconds
BUSY, IDLE = 0.25, 4.0  # seconds between two looks; in between it doubles
REST = 1.0  # seconds between two looks for what is to be sent on, while there is; it doubles up to
LOOK = 10.0  # seconds between two looks for a check that somebody asked for
ANYWAY = timedelta(days=1)  # after which a chain is looked through unasked


def sealer(stop: threading.Event) -> None:
    """Until told to stop. What fails is logged and begun again by who runs it, with a fresh sealer."""
    lead, sealing, anchoring, rest = Lead("audit:sealer"), Sealer(), Anchorer(), BUSY
    with lead:
        while not stop.is_set():
            sealed = 0
            if lead.is_mine():
                sealed = sealing.look(most=20_000)
                anchoring.look(sealing.touched)
            rest = BUSY if sealed else min(rest * 2, IDLE)
            stop.wait(rest)


def keeper(stop: threading.Event) -> None:
    """Looks through the chains: those that somebody asked for, and each once a day."""
    lead, next_round = Lead("audit:keeper"), 0.0
    with lead:
        while not stop.is_set():
            if lead.is_mine():
                for chain in asked():
                    remember(verify(chain, lambda _: lead.is_mine()))
                if clock.monotonic() >= next_round:
                    _daily(lead, stop)
                    next_round = clock.monotonic() + 3600.0
            stop.wait(LOOK)


def forwarder(stop: threading.Event) -> None:
    """Sends events on to the places that organizations have named."""
    lead, rest = Lead("audit:forwarder"), REST
    with lead:
        while not stop.is_set():
            taken = (
                forward_all(lambda: lead.is_mine() and not stop.is_set()) if lead.is_mine() else 0
            )
            rest = REST if taken else min(rest * 2, LOOK)
            stop.wait(rest)


def asked() -> list[UUID]:
    """The chains that somebody asked for, and that were not looked through since."""
    rows = AuditCheck.objects.filter(asked_at__isnull=False).filter(
        Q(at=None) | Q(at__lt=F("asked_at"))
    )
    return list(rows.order_by("asked_at").values_list("chain", flat=True))


def _daily(lead: Lead, stop: threading.Event) -> None:
    fresh = set(
        AuditCheck.objects.filter(at__gt=clock.now() - ANYWAY).values_list("chain", flat=True)
    )
    for chain in {
        *chains(),
        *AuditCheck.objects.values_list("chain", flat=True),
    }:  # also one whose links are all gone
        if chain not in fresh and not stop.is_set():
            remember(verify(chain, lambda _: lead.is_mine()))


class Lead:
    """Leadership of one loop, renewed as it is asked for. A context manager: given back at the end."""

    def __init__(self, name: str) -> None:
        self._name, self._holder, self._until = name, new_holder(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        leases.release(self._name, self._holder)

    def is_mine(self) -> bool:
        """Whether it is this process's, for the next seconds."""
        if clock.monotonic() >= self._until - LEASE + RENEW:
            self._until = (
                clock.monotonic() + LEASE if leases.take(self._name, self._holder, LEASE) else 0.0
            )
        return self._until > 0
