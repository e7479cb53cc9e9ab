"""Chaining events after they were written, so that writers never wait for each other.

The order of the chain is the order of sealing. Transactions commit out of the order of their positions, so what is not sealed is
found by its absence among the links, not by being the newest. `floor` keeps that cheap: below it every position is sealed or will
never be. On SQLite one transaction writes at a time, so whatever is below a position that was seen is settled. On PostgreSQL a
position seen now is settled once every transaction that had begun by now has ended (`pg_snapshot_xmin`). A look from the bottom,
when this process begins to lead and then every few hours, finds what that reasoning missed (docs/design/audit.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from portal.core import clock
from portal.core.audit.anchors import last_cut
from portal.core.audit.canonical import (
    Head,
    Row,
    begin,
    canonical,
    chain_of,
    columns,
    event_table,
    follow,
    read,
)
from portal.core.audit.models import AuditLink
from portal.core.bulk import insert_rows
from portal.core.models import Event

BATCH = 2000
SETTLE = 5.0  # seconds that a mark must be old: a position is taken a moment before its transaction has a number
DEEP = 6 * 3600.0  # seconds between looks from the bottom
_FIELDS = ("position", "chain", "seq", "hash")


@dataclass(frozen=True)
class Mark:
    """When `position` was the highest, transactions below `horizon` had begun. `made` is monotonic."""

    position: int
    horizon: int
    made: float


@dataclass
class Sealer:
    """Seals what is not sealed. Several may run: the links themselves refuse a second one for the same place."""

    floor: int = 0
    touched: dict[UUID, Head] = field(default_factory=dict)  # chains that have grown
    _marks: deque[Mark] = field(default_factory=deque)
    _deep_at: float = 0.0

    def look(self, most: int = 1 << 40) -> int:
        """Seals all there is, or about `most`; how many."""
        if clock.monotonic() >= self._deep_at:
            self.floor, self._deep_at = 0, clock.monotonic() + DEEP
        settled = self._settled()
        sealed, above = 0, self.floor
        while sealed < most:
            rows = unsealed(above, BATCH)
            if rows:
                self._seal(rows)
                sealed, above = (
                    sealed + len(rows),
                    rows[-1][0],
                )  # what appears below meanwhile is found by the next look
            if len(rows) < BATCH:
                self.floor = max(self.floor, settled)
                break
        return sealed

    def _seal(self, rows: list[Row]) -> None:
        with transaction.atomic():  # short: on SQLite nobody else writes meanwhile
            ends = heads_of({chain_of(row) for row in rows})
            insert_rows(AuditLink, _FIELDS, [_link(ends[chain_of(row)], row) for row in rows])
        for chain, end in ends.items():
            end.since += self.touched[chain].since if chain in self.touched else 0
        self.touched.update(ends)

    def _settled(self) -> int:
        """The highest position below which nothing can still appear; a mark is made for later looks."""
        highest = Event.objects.aggregate(last=Max("position"))["last"] or 0
        if connection.vendor != "postgresql":
            return highest
        with (
            connection.cursor() as cursor
        ):  # after the maximum was read: who took a lower position has begun by now
            cursor.execute(
                "SELECT pg_snapshot_xmax(s)::text, pg_snapshot_xmin(s)::text FROM pg_current_snapshot() AS s"
            )
            begun, ended = map(int, cursor.fetchone())
        settled = self.floor
        while (
            self._marks
            and self._marks[0].horizon <= ended
            and clock.monotonic() - self._marks[0].made >= SETTLE
        ):
            settled = self._marks.popleft().position
        if not self._marks or self._marks[-1].position < highest:
            self._marks.append(Mark(highest, begun, clock.monotonic()))
        return settled


def _link(end: Head, row: Row) -> tuple[Any, ...]:
    """The next link of a chain, whose end moves on."""
    end.seq, end.hash, end.since = end.seq + 1, follow(end.hash, canonical(row)), end.since + 1
    return (row[0], chain_of(row), end.seq, end.hash)


def unsealed(above: int, most: int) -> list[Row]:
    """Events above a position that have no link, by position."""
    links = connection.ops.quote_name(AuditLink._meta.db_table)
    sql = (
        f"SELECT {columns()} FROM {event_table()} e LEFT JOIN {links} l ON l.position = e.position "  # noqa: S608  names
        "WHERE e.position > %s AND l.position IS NULL ORDER BY e.position LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [above, most])
        return list(read(cursor.fetchall()))


def heads_of(chains: Iterable[UUID]) -> dict[UUID, Head]:
    """Where each chain ends now; a new one at its beginning, or where retention cut it off."""
    found = {}
    for chain in chains:
        last = (
            AuditLink.objects.filter(chain=chain)
            .order_by("-seq")
            .values_list("seq", "hash")
            .first()
        )
        found[chain] = Head(last[0], bytes(last[1])) if last else _beginning(chain)
    return found


def _beginning(chain: UUID) -> Head:
    cut = last_cut(chain)
    return Head(cut.seq, bytes(cut.hash)) if cut else Head(0, begin(chain))
