"""Anchors: moments of a chain, signed with a key that is not in the database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from portal.core import clock, vault
from portal.core.audit.canonical import Head
from portal.core.audit.models import AuditAnchor, AuditLink

PURPOSE = "audit anchors"
EVERY = 1000  # links between two anchors of a chain at most, and
WITHIN = 600.0  # seconds


def anchor(
    chain: UUID, seq: int, at_hash: bytes, kind: str = AuditAnchor.Kind.ANCHOR
) -> AuditAnchor:
    """A new one behind the last. Raises IntegrityError when another process was as fast."""
    last = AuditAnchor.objects.filter(chain=chain).order_by("-number").first()
    row = AuditAnchor(
        chain=chain,
        number=last.number + 1 if last else 1,
        kind=kind,
        seq=seq,
        hash=at_hash,
        at=clock.now(),
    )
    row.mac = vault.sign(signed_text(row, bytes(last.mac) if last else b""), PURPOSE)
    row.save(force_insert=True)
    return row


def is_genuine(row: AuditAnchor, former_mac: bytes) -> bool:
    """Whether we wrote it, behind the one with that signature."""
    return vault.is_signed(signed_text(row, former_mac), bytes(row.mac), PURPOSE)


def signed_text(row: AuditAnchor, former_mac: bytes) -> bytes:
    """What the signature is over: the row, and the signature of the anchor before."""
    at = row.at.astimezone(UTC).isoformat(timespec="microseconds")
    return f"{row.chain} {row.number} {row.kind} {row.seq} {bytes(row.hash).hex()} {at} {former_mac.hex()}".encode()


def last_cut(chain: UUID) -> AuditAnchor | None:
    """Where retention has cut the chain off, if it has."""
    return (
        AuditAnchor.objects.filter(chain=chain, kind=AuditAnchor.Kind.CUT)
        .order_by("-number")
        .first()
    )


def chains() -> Iterator[UUID]:
    """Those that there are, each found by one step in the index."""
    at = AuditLink.objects.order_by("chain").values_list("chain", flat=True).first()
    while at is not None:
        yield at
        at = (
            AuditLink.objects.filter(chain__gt=at)
            .order_by("chain")
            .values_list("chain", flat=True)
            .first()
        )


class Anchorer:
    """Sets anchors for the chains that a sealer lets grow. Of what an earlier process sealed it sets one when it begins."""

    def __init__(self) -> None:
        self._last: dict[UUID, float] = {}
        self._has_begun = False

    def look(self, touched: dict[UUID, Head]) -> int:
        """Anchors for chains that have grown enough, or long ago; how many."""
        if not self._has_begun:
            self._begin(touched)
        at, made = clock.monotonic(), 0
        for chain, head in list(touched.items()):
            began = self._last.setdefault(chain, at)
            if head.since and (head.since >= EVERY or at - began >= WITHIN):
                made += _set(chain, head)
                self._last[chain] = at
        return made

    def _begin(self, touched: dict[UUID, Head]) -> None:
        """One for each chain whose end no anchor covers, at once."""
        for chain in chains():
            last = AuditLink.objects.filter(chain=chain).order_by("-seq").first()
            covered = (
                AuditAnchor.objects.filter(chain=chain)
                .order_by("-number")
                .values_list("seq", flat=True)
                .first()
                or 0
            )
            if last is not None and last.seq > covered:
                _set(chain, Head(last.seq, bytes(last.hash)))
                if chain in touched:
                    touched[chain].since = 0
        self._has_begun = True


def _set(chain: UUID, head: Head) -> int:
    head.since = 0
    try:
        with transaction.atomic():
            anchor(chain, head.seq, head.hash)
    except IntegrityError:  # another process has just set one
        return 0
    return 1


def facts_of(row: AuditAnchor) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "number": row.number,
        "kind": row.kind,
        "seq": row.seq,
        "hash": bytes(row.hash).hex(),
        "at": row.at,
    }
