"""Chain events after they were written, so that writers never wait for each other.

The order of the chain is the order of sealing. Transactions commit out of the order of their
positions, so unsealed events are those without a link, not those after the last one sealed. `floor`
keeps the search cheap: every position below it is sealed or will never exist.

`portal.core.settled` says which positions are settled. A full scan at the start of leadership and
every few hours finds exceptions (docs/design/audit.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from portal.core import clock
from portal.core.audit.anchors import last_cut
from portal.core.audit.canonical import (
    ChainHead,
    Row,
    canonical,
    chain_of,
    columns,
    event_table,
    initial_hash,
    next_hash,
    read,
)
from portal.core.audit.models import AuditLink
from portal.core.bulk import insert_rows
from portal.core.settled import SettledPosition

BATCH = 2000
DEEP = 6 * 3600.0  # seconds between full scans
_FIELDS = ("position", "chain", "seq", "hash")


@dataclass
class Sealer:
    """Seal events that have no link yet.

    Several may run at once: the unique constraints on links reject duplicates.
    """

    floor: int = 0
    touched: dict[UUID, ChainHead] = field(default_factory=dict)  # chains that have grown
    _settled: SettledPosition = field(default_factory=SettledPosition)
    _deep_at: float = 0.0

    def look(self, most: int = 1 << 40) -> int:
        """Seal all unsealed events, or about `most`; return their number."""
        if clock.monotonic() >= self._deep_at:
            self.floor, self._deep_at = 0, clock.monotonic() + DEEP
        settled = self._settled.look()
        sealed, above = 0, self.floor
        while sealed < most:
            rows = unsealed(above, BATCH)
            if rows:
                self._seal(rows)
                # Events that appear below meanwhile are found in the next round.
                sealed, above = (
                    sealed + len(rows),
                    rows[-1][0],
                )
            if len(rows) < BATCH:
                self.floor = max(self.floor, settled)
                break
        return sealed

    def _seal(self, rows: list[Row]) -> None:
        # Keep it short: SQLite blocks all other writers.
        with transaction.atomic():
            ends = heads_of({chain_of(row) for row in rows})
            insert_rows(AuditLink, _FIELDS, [_link(ends[chain_of(row)], row) for row in rows])
        for chain, end in ends.items():
            end.since += self.touched[chain].since if chain in self.touched else 0
        self.touched.update(ends)


def _link(end: ChainHead, row: Row) -> tuple[Any, ...]:
    """Return the next link of a chain, and advance its end."""
    end.seq, end.hash, end.since = end.seq + 1, next_hash(end.hash, canonical(row)), end.since + 1
    return (row[0], chain_of(row), end.seq, end.hash)


def unsealed(above: int, most: int) -> list[Row]:
    """Return the events above a position that have no link, by position."""
    links = connection.ops.quote_name(AuditLink._meta.db_table)
    sql = (
        f"SELECT {columns()} FROM {event_table()} e LEFT JOIN {links} l ON l.position = e.position "  # noqa: S608  # identifiers only
        "WHERE e.position > %s AND l.position IS NULL ORDER BY e.position LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [above, most])
        return list(read(cursor.fetchall()))


def heads_of(chains: Iterable[UUID]) -> dict[UUID, ChainHead]:
    """Return the end of each chain; new chains start at the beginning or at the last cut."""
    found = {}
    for chain in chains:
        last = (
            AuditLink.objects.filter(chain=chain)
            .order_by("-seq")
            .values_list("seq", "hash")
            .first()
        )
        found[chain] = ChainHead(last[0], bytes(last[1])) if last else _beginning(chain)
    return found


def _beginning(chain: UUID) -> ChainHead:
    cut = last_cut(chain)
    return ChainHead(cut.seq, bytes(cut.hash)) if cut else ChainHead(0, initial_hash(chain))
