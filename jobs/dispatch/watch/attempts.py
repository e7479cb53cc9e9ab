"""Keep a cluster's active attempts in memory and reread only those that changed.

There may be 50,000, most of them unchanged. PostgreSQL sums a hash over each of 256 parts, which is
faster than sending the rows, and only parts with another sum are read. SQLite, and a small number
of attempts, are read in full.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.db import connection

from clusters.models import Cluster
from jobs.dispatch.watch.observations import COLUMNS, WatchedAttempt, active_attempts
from jobs.models import Attempt
from schedulers.states import State

FEW = 500  # attempts up to which all are read
PARTS = 256
_Mark = tuple[int, Any]  # number of attempts, sum of hashes


class AttemptCache:
    """Active attempts of one watcher."""

    def __init__(self) -> None:
        self._marks: dict[int, _Mark] = {}
        self._parts: dict[int, list[WatchedAttempt]] = {}
        self._last_count = 0

    def active(self, cluster: Cluster) -> list[WatchedAttempt]:
        """Return the same rows as `observations.active_attempts`, in any order."""
        if self._last_count <= FEW or connection.vendor != "postgresql":
            found = active_attempts(cluster)
        else:
            found = self._changed(cluster)
        self._last_count = len(found)
        return found

    def _changed(self, cluster: Cluster) -> list[WatchedAttempt]:
        """Reread the parts that changed; sums come first, so later changes are read next time."""
        marks = _marks(cluster)
        stale = [part for part, mark in marks.items() if self._marks.get(part) != mark]
        read = _read(cluster, stale) if stale else {}
        self._parts = {
            part: read[part] if part in read else self._parts.get(part, [])
            for part in marks
            if part in read or part not in stale
        }
        self._marks = marks
        return list(chain.from_iterable(self._parts.values()))


def _marks(cluster: Cluster) -> dict[int, _Mark]:
    sql = (
        f"SELECT {_PART}, count(*), sum(hash_record_extended(ROW({_names()}), 0)) FROM {_table()} WHERE {_WHERE} "  # noqa: S608  names, numbers
        "GROUP BY 1"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [cluster.id])
        return {part: (count, total) for part, count, total in cursor.fetchall()}


def _read(cluster: Cluster, parts: list[int]) -> dict[int, list[WatchedAttempt]]:
    sql = f"SELECT {_PART}, {_names()} FROM {_table()} WHERE {_WHERE} AND {_PART} = ANY(%s)"  # noqa: S608  names, numbers
    found: dict[int, list[WatchedAttempt]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql, [cluster.id, parts])
        for part, *values in cursor.fetchall():
            found.setdefault(part, []).append(WatchedAttempt(*values))
    return found


_PART = f"uuid_hash(id) & {PARTS - 1}"
_WHERE = f"cluster_id = %s AND state > {State.QUEUED:d} AND state < {State.SUCCEEDED:d}"


def _names() -> str:
    return ", ".join(connection.ops.quote_name(name) for name in COLUMNS)


def _table() -> str:
    return connection.ops.quote_name(Attempt._meta.db_table)
