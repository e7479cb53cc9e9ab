"""The background loops of the audit trail: sealing, verification and forwarding.

They run as threads of the embedded process, or of the watcher
process in server mode. One process at a time leads each loop by lease.
"""

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
from portal.core.audit.verify import store_report, verify
from portal.core.lease_holder import new_holder

LEASE, RENEW = 60.0, 20.0  # seconds
# Seconds between two rounds; doubles from BUSY to IDLE.
BUSY, IDLE = 0.25, 4.0
# Seconds between two rounds of forwarding; doubles up to LOOK.
REST = 1.0
# Seconds between polls for requested checks.
LOOK = 10.0
# Each chain is verified at least this often.
ANYWAY = timedelta(days=1)


def sealer(stop: threading.Event) -> None:
    """Seal events until stopped. After an error the caller starts it again with a new Sealer."""
    lead, sealing, anchoring, rest = LeaderLease("audit:sealer"), Sealer(), Anchorer(), BUSY
    with lead:
        while not stop.is_set():
            sealed = 0
            if lead.is_mine():
                sealed = sealing.look(most=20_000)
                anchoring.look(sealing.touched)
            rest = BUSY if sealed else min(rest * 2, IDLE)
            stop.wait(rest)


def verifier(stop: threading.Event) -> None:
    """Verify chains: those for which somebody requested it, and each once a day."""
    lead, next_round = LeaderLease("audit:keeper"), 0.0
    with lead:
        while not stop.is_set():
            if lead.is_mine():
                for chain in asked():
                    store_report(verify(chain, lambda _: lead.is_mine()))
                if clock.monotonic() >= next_round:
                    _daily(lead, stop)
                    next_round = clock.monotonic() + 3600.0
            stop.wait(LOOK)


def forwarder(stop: threading.Event) -> None:
    """Forward events to the targets that organizations have configured."""
    lead, rest = LeaderLease("audit:forwarder"), REST
    with lead:
        while not stop.is_set():
            taken = (
                forward_all(lambda: lead.is_mine() and not stop.is_set()) if lead.is_mine() else 0
            )
            rest = REST if taken else min(rest * 2, LOOK)
            stop.wait(rest)


def asked() -> list[UUID]:
    """Return the chains with a requested check that has not run yet."""
    rows = AuditCheck.objects.filter(asked_at__isnull=False).filter(
        Q(at=None) | Q(at__lt=F("asked_at"))
    )
    return list(rows.order_by("asked_at").values_list("chain", flat=True))


def _daily(lead: LeaderLease, stop: threading.Event) -> None:
    fresh = set(
        AuditCheck.objects.filter(at__gt=clock.now() - ANYWAY).values_list("chain", flat=True)
    )
    for chain in {
        *chains(),
        *AuditCheck.objects.values_list("chain", flat=True),
    }:  # includes chains that have lost all links
        if chain not in fresh and not stop.is_set():
            store_report(verify(chain, lambda _: lead.is_mine()))


class LeaderLease:
    """Leadership of one loop, renewed on use. A context manager that releases it at the end."""

    def __init__(self, name: str) -> None:
        self._name, self._holder, self._until = name, new_holder(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        leases.release(self._name, self._holder)

    def is_mine(self) -> bool:
        """Return whether this process leads for the next seconds."""
        if clock.monotonic() >= self._until - LEASE + RENEW:
            self._until = (
                clock.monotonic() + LEASE if leases.take(self._name, self._holder, LEASE) else 0.0
            )
        return self._until > 0
