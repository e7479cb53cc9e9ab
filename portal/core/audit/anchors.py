"""Anchor hash chains: sign their state with a key that is not in the database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from portal.core import clock, vault
from portal.core.audit.canonical import ChainHead
from portal.core.audit.models import AuditAnchor, AuditLink

PURPOSE = "audit anchors"
# At most this many links between two anchors of a chain.
EVERY = 1000
WITHIN = 600.0  # at most, between two anchors of a chain that grows


def anchor(
    chain: UUID, seq: int, at_hash: bytes, kind: str = AuditAnchor.Kind.ANCHOR
) -> AuditAnchor:
    """Append an anchor. Raises IntegrityError if another process was faster."""
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
    """Return whether we signed the anchor as the successor of the one with that MAC."""
    return vault.is_signed(signed_text(row, former_mac), bytes(row.mac), PURPOSE)


def signed_text(row: AuditAnchor, former_mac: bytes) -> bytes:
    """Return the signed data: the row and the MAC of the anchor before."""
    at = row.at.astimezone(UTC).isoformat(timespec="microseconds")
    text = f"{row.chain} {row.number} {row.kind} {row.seq} {bytes(row.hash).hex()} {at}"
    return f"{text} {former_mac.hex()}".encode()


def last_cut(chain: UUID) -> AuditAnchor | None:
    """Return the last anchor at which retention cut the chain off, if any."""
    return (
        AuditAnchor.objects.filter(chain=chain, kind=AuditAnchor.Kind.CUT)
        .order_by("-number")
        .first()
    )


def chains() -> Iterator[UUID]:
    """Yield the ids of all chains, each found with one index lookup."""
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
    """Anchor the chains that a sealer extends, and at first those left by an earlier process."""

    def __init__(self) -> None:
        self._last: dict[UUID, float] = {}
        self._has_begun = False

    def look(self, touched: dict[UUID, ChainHead]) -> int:
        """Anchor chains whose last anchor is too old or too far back; return how many."""
        if not self._has_begun:
            self._begin(touched)
        at, made = clock.monotonic(), 0
        for chain, head in list(touched.items()):
            began = self._last.setdefault(chain, at)
            if head.since and (head.since >= EVERY or at - began >= WITHIN):
                made += _set_anchor(chain, head)
                self._last[chain] = at
        return made

    def _begin(self, touched: dict[UUID, ChainHead]) -> None:
        """Anchor each chain whose end is not covered by an anchor."""
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
                _set_anchor(chain, ChainHead(last.seq, bytes(last.hash)))
                if chain in touched:
                    touched[chain].since = 0
        self._has_begun = True


def _set_anchor(chain: UUID, head: ChainHead) -> int:
    head.since = 0
    try:
        with transaction.atomic():
            anchor(chain, head.seq, head.hash)
    except IntegrityError:  # another process was faster
        return 0
    return 1


def facts_of(row: AuditAnchor) -> dict[str, Any]:
    """Serialize an anchor for the API."""
    return {
        "number": row.number,
        "kind": row.kind,
        "seq": row.seq,
        "hash": bytes(row.hash).hex(),
        "at": row.at,
    }
