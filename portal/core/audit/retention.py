"""Delete events that are older than an organization keeps them.

Only sealed events are deleted, from the start of the chain and without gaps. A signed anchor
records the cut, so that the rest can still be verified. Retention stops at the first fault and
reports it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from portal.core import clock
from portal.core.audit.anchors import anchor
from portal.core.audit.canonical import COLUMNS, NO_ORG, canonical, next_hash
from portal.core.audit.models import AuditAnchor, AuditLink, AuditPolicy
from portal.core.audit.verify import PAGE, links_behind, start_of
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.models import Event

SHORTEST, LONGEST = 30, 36_500  # days
MOST = 100_000  # events of one chain per run
_AT = COLUMNS.index("at")


def trim_all() -> int:
    """Apply all retention policies; return the number of deleted events."""
    return sum(trim(row) for row in AuditPolicy.objects.filter(keep_days__isnull=False))


def trim(policy: AuditPolicy) -> int:
    """Apply one policy. Idempotent, and safe to run alongside writers and the sealer."""
    before, deleted = clock.now() - timedelta(days=policy.keep_days or LONGEST), 0
    while deleted < MOST:
        count, trouble = _trim_page(policy.chain, before)
        if trouble != policy.trouble:
            policy.trouble = trouble
            policy.save(update_fields=["trouble"])
        deleted += count
        if count < PAGE:
            break
    if deleted:
        record(
            EventRecord(
                "audit.trimmed",
                None if policy.chain == NO_ORG else policy.chain,
                "audit",
                None,
                "muster",
                {
                    "events": deleted,
                    "older_than": before.isoformat(timespec="seconds"),
                    "keep_days": policy.keep_days,
                },
            )
        )
    return deleted


@transaction.atomic
def _trim_page(chain: UUID, before: datetime) -> tuple[int, str]:
    """Delete at most one page; return the number of events and what prevents further deletion."""
    at_hash, expected = start_of(chain)
    positions: list[int] = []
    trouble = ""
    for seq, stored, position, values in links_behind(chain, expected - 1):
        if seq != expected or values is None or next_hash(at_hash, canonical(values)) != stored:
            trouble = Message(
                "Events from #{expected} on are not deleted, because the chain is damaged "
                "there. Verify it.",
                expected=f"{expected:,}",
            )
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
