"""Test that nothing unchanged in Slurm's queue is parsed or observed again."""

from __future__ import annotations

import pytest

from schedulers.contract import Observation, PendingReason
from schedulers.slurm.explanations import SlurmSnapshot
from schedulers.slurm.queue_cache import ObservationCache
from schedulers.slurm.rows import LISTING, Row, SqueueParser
from schedulers.slurm.states import Record, live
from schedulers.states import State

LINE = "{}\x1f{}\x1f{}\x1fN/A\x1fN/A\x1f\x1fbatch\x1fatlas\x1fnormal\x1fada\x1ft-{:<98}"
LINE += f"{'a|b|c':<40}\n"
PENDING = Row(
    7, "PENDING", "t-7", "Resources", partition="batch", account="atlas", qos="normal", user="ada"
)


class Eyes:
    """Observes like the backend, and counts."""

    def __init__(self) -> None:
        self.looks = ObservationCache(self.observe)
        self.judged: list[str] = []
        self.waiting: list[int] = []
        self.snapshot: SlurmSnapshot | None = None

    def observe(self, row: Row) -> Observation | None:
        self.judged.append(row.key)
        return live(row, Record())

    def see(self, *rows: Row) -> list[Observation]:
        by_key = {row.key: row for row in rows}
        return self.looks.look(list(by_key), by_key, self._snapshot)

    def _snapshot(self, waiting: int) -> SlurmSnapshot | None:
        self.waiting.append(waiting)
        return self.snapshot


@pytest.fixture
def eyes() -> Eyes:
    return Eyes()


def test_listing_reuses_unchanged_rows_and_parses_changed_ones():
    listing, lines = SqueueParser(), [LINE.format(n, "PENDING", "Priority", n) for n in range(3)]
    first = listing.rows("".join(lines).encode())
    lines[1] = LINE.format(1, "RUNNING", "None", 1)
    second = listing.rows("".join([*lines, "rubbish\n"]).encode())
    assert second == LISTING.rows("".join(lines).encode()) and second[1].state == "RUNNING"
    assert [a is b for a, b in zip(first, second, strict=True)] == [True, False, True]


def test_listing_drops_removed_lines():
    listing = SqueueParser()
    listing.rows(LINE.format(1, "PENDING", "Priority", 1).encode())
    assert (
        listing.rows(b"") == []
        and listing.rows(LINE.format(2, "PENDING", "Priority", 2).encode())[0].id == 2
    )


def test_unchanged_pending_job_is_observed_once(eyes):
    first = eyes.see(PENDING)
    assert eyes.see(PENDING) == first and eyes.see(Row(**PENDING.__dict__)) == first
    assert eyes.judged == ["t-7"] and first[0].state == State.SUBMITTED


def test_changed_pending_job_is_observed_again(eyes):
    eyes.see(PENDING)
    explanation = eyes.see(Row(**{**PENDING.__dict__, "reason": "Priority"}))[0]
    assert (
        isinstance(explanation.waiting, PendingReason)
        and explanation.waiting.native_reason == "Priority"
    )


@pytest.mark.parametrize(
    "row",
    [
        Row(7, "RUNNING", "t-7", started=5, nodes="n1"),
        Row(7, "PENDING", "t-7", "BeginTime"),
        Row(7, "PENDING", "t-7", "launch failed requeued held"),
    ],
)
def test_job_with_files_is_observed_each_time(eyes, row):
    eyes.see(row)
    eyes.see(row)
    assert eyes.judged == ["t-7", "t-7"]


def test_new_snapshot_refreshes_explanations_once(eyes):
    plain = eyes.see(PENDING)[0]
    eyes.snapshot = SlurmSnapshot()
    drawn = eyes.see(PENDING)[0]
    assert eyes.see(PENDING)[0] is drawn and drawn is not plain
    assert eyes.judged == ["t-7"] and eyes.waiting == [1, 1, 1]


def test_job_returning_to_queue_is_observed_again(eyes):
    eyes.see(PENDING)
    assert eyes.see() == [] and not eyes.looks.knows("t-7")
    eyes.see(PENDING)
    assert eyes.judged == ["t-7", "t-7"]
