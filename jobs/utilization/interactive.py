"""When an interactive job was last used: by a person, or by what computes in it.

This is the clock of the idle rule for sessions, and that of their pages. It counts what a person does at
the app (`portal.gateway.person`), what the app says about itself (busy kernels, programs in a terminal),
and the CPU of the job where an agent measures it. An open tab counts for nothing. Where neither the app
nor an agent says whether something computes, nobody knows, and what is not known is not idle. GPUs are
judged by the rule as those of other jobs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from jobs.models import Attempt, PortActivity
from jobs.utilization.recording import MINUTE
from portal import series
from portal.core import clock

CPU = "cpu.used"  # series of node agents: cores
WORKING_CORES = 0.2  # the least mean over a minute that counts: editors at rest need less
LATEST = timedelta(minutes=10)  # age of the last answer or value


@dataclass(frozen=True)
class InteractiveUse:
    """The last signs of use of an attempt. `is_known`: something tells whether it computes."""

    started_at: datetime
    person_at: datetime | None = None
    busy_at: datetime | None = None
    cpu_at: datetime | None = None
    app_answers: bool = False
    has_cpu: bool = False

    @property
    def is_known(self) -> bool:
        return self.app_answers or self.has_cpu

    @property
    def last_at(self) -> datetime:
        """Return when it was last used; its start counts as well."""
        signs = (self.person_at, self.busy_at, self.cpu_at)
        return max([self.started_at, *(at for at in signs if at)])


def interactive_uses(attempts: Collection[Attempt], since: datetime) -> dict[UUID, InteractiveUse]:
    """Return the use of running attempts; CPU of before `since` is left out. Two statements."""
    now = clock.now()
    ports: dict[UUID, list[PortActivity]] = {one.id: [] for one in attempts}
    for row in PortActivity.objects.filter(attempt__in=attempts):
        ports[row.attempt_id].append(row)
    cores = _cores([one.id for one in attempts], since, now)
    found = {}
    for one in attempts:
        rows, by_minute = ports[one.id], cores.get(one.id, {})
        asked_at = _latest(row.asked_at for row in rows)
        working = [at for at, value in by_minute.items() if value >= WORKING_CORES]
        found[one.id] = InteractiveUse(
            started_at=one.started_at or now,
            person_at=_latest(row.person_at for row in rows),
            busy_at=_latest(row.busy_at for row in rows),
            cpu_at=_time(max(working)) if working else None,
            app_answers=asked_at is not None and asked_at > now - LATEST,
            has_cpu=bool(by_minute) and _time(max(by_minute)) > now - LATEST,
        )
    return found


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    return max((at for at in times if at), default=None)


def _cores(
    attempts: Collection[UUID], since: datetime, end: datetime
) -> dict[UUID, dict[int, float]]:
    """Return the mean cores of each minute that was measured, by its end (Unix ms)."""
    owners = {f"attempt:{pk.hex}": pk for pk in attempts}
    if not owners:
        return {}
    start_ms = round(since.timestamp() * 1000) // MINUTE * MINUTE
    sums = series.sums_by_period(
        list(owners), CPU, start_ms=start_ms, end_ms=round(end.timestamp() * 1000), period_ms=MINUTE
    )
    return {
        owners[owner]: {
            at + MINUTE: total / count
            for by_minute in by_labels.values()
            for at, (total, count) in by_minute.items()
        }
        for owner, by_labels in sums.items()
    }


def _time(ms: int) -> datetime:
    return min(datetime.fromtimestamp(ms / 1000, UTC), clock.now())
