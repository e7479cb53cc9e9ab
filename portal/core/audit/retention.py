"""Deleting what is older than an organization keeps. Only what is sealed, from the beginning of the chain and without a gap; a signed
anchor says where it was cut, so that the rest still proves itself. A fault is never deleted: there retention stops and says so."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from portal.core import clock
from portal.core.audit.anchors import anchor
from portal.core.audit.canonical import COLUMNS, NO_ORG, canonical, follow
from portal.core.audit.models import AuditAnchor, AuditLink, AuditPolicy
from portal.core.audit.verify import PAGE, links_behind, start_of
from portal.core.events import Fact, record
from portal.core.models import Event

SHORTEST, LONGEST = 30, 36_500  # days
MOST = 100_000  # events of one chain in one turn
_AT = COLUMNS.index("at")


def trim_all() -> int:
    """Every chain that has an end to what it keeps; how many events went."""
    return sum(trim(row) for row in AuditPolicy.objects.filter(keep_days__isnull=False))


def trim(policy: AuditPolicy) -> int:
    """One chain. Safe to run twice, and beside writers and the sealer."""
    before, gone = clock.now() - timedelta(days=policy.keep_days or LONGEST), 0
    while gone < MOST:
        count, trouble = _cut(policy.chain, before)
        if trouble != policy.trouble:
            policy.trouble = trouble
            policy.save(update_fields=["trouble"])
        gone += count
        if count < PAGE:
            break
    if gone:
        record(
            Fact(
                "audit.trimmed",
                None if policy.chain == NO_ORG else policy.chain,
                "audit",
                None,
                "muster",
                {
                    "events": gone,
                    "older_than": before.isoformat(timespec="seconds"),
                    "keep_days": policy.keep_days,
                },
            )
        )
    return gone


@transaction.atomic
def _cut(chain: UUID, before: datetime) -> tuple[int, str]:
    """At most a page: how many went, and what stands in the way of more."""
    at_hash, expected = start_of(chain)
    positions: list[int] = []
    trouble = ""
    for seq, stored, position, values in links_behind(chain, expected - 1):
        if seq != expected or values is None or follow(at_hash, canonical(values)) != stored:
            trouble = f"Nothing is deleted from #{expected:,} on: the chain is not whole there. Verify it."
            break
        if values[_AT] >= before or len(positions) == PAGE:
            break
        positions.append(position)
        at_hash, expected = stored, seq + 1
    if positions:
        anchor(chain, expected - 1, at_hash, AuditAnchor.Kind.CUT)
        AuditLink.objects.filter(chain=chain, seq__lt=expected).delete()
        Event.objects.filter(position__in=positions).delete()
    return len(positions), trouble
