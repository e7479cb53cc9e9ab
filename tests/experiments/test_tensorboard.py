"""TensorBoard event files: those of real writers, torn and damaged ones, and folders with links.

tests/experiments/events has files that tensorboardX 2.6 and TensorBoard 2.20 have written: steps 0
to 4 of `loss/train`, with a text and a histogram; steps 0 to 2 of `epoch_loss`.
"""

from __future__ import annotations

import io
import os
import shutil
import struct
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import event_files, tasks, tensorboard
from experiments.models import EventFile, Run
from jobs.data.outputs import output_of
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from portal import series
from portal.core import clock
from portal.core.models import Event
from schedulers.states import Reason, State
from tests.cases import CASES
from tests.jobs.stage import claim_all, cluster_with, only_attempt, submit
from workspaces.tenancy.scope import platform_scope

FILES = Path(__file__).parent / "events"
OLD, NEW = FILES / "tensorboardx.tfevents", FILES / "tensorboard.tfevents"
WHOLE = 1 << 20


@pytest.mark.parametrize(
    ("path", "tag", "expected"),
    [(OLD, "loss/train", [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]), (NEW, "epoch_loss", [0.5, 0.4, 0.3])],
)
def test_scalars_of_real_writers_are_read(path, tag, expected):
    with open(path, "rb") as file:
        piece = event_files.read(file, 0, WHOLE)
    found = piece.scalars
    assert (piece.offset, piece.gaps) == (path.stat().st_size, [])
    assert [(s.tag, s.step) for s in found] == [(tag, n) for n in range(len(expected))]
    assert [s.value for s in found] == pytest.approx(expected)
    if path == OLD:
        assert [s.at_ms for s in found] == [1_700_000_000_000 + 1000 * n for n in range(5)]


@given(st.lists(st.integers(0, OLD.stat().st_size), max_size=6), st.integers(1, 700))
def test_growing_file_yields_each_scalar_once(sizes, budget):
    data, offset, steps = OLD.read_bytes(), 0, []
    for size in [*sorted(sizes), *[len(data)] * len(data)]:
        piece = event_files.read(io.BytesIO(data[:size]), offset, budget)
        offset = piece.offset
        steps += [s.step for s in piece.scalars]
        if offset == len(data):
            break
    assert steps == list(range(5))


@given(st.data())
def test_damage_takes_only_the_records_that_it_hits(data):
    """Compare with the records that are whole: those are read, and nothing else is."""
    records = [event(b"loss", n, step=n) for n in range(8)]
    raw, hit = bytearray(b"".join(records)), set()
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4)):
        byte = data.draw(st.integers(1, 255))
        raw[at] ^= byte
    starts = [sum(map(len, records[:n])) for n in range(9)]
    hit = {n for n in range(8) if raw[starts[n] : starts[n + 1]] != records[n]}
    tail = event(b"loss", 8, step=8)
    piece = event_files.read(io.BytesIO(bytes(raw) + tail), 0, WHOLE)
    assert [s.step for s in piece.scalars] == [n for n in range(9) if n not in hit]
    assert piece.offset == len(raw) + len(tail)
    assert sum(gap.end - gap.start for gap in piece.gaps) == sum(len(records[n]) for n in hit)


def test_zeros_at_the_end_are_read_when_the_records_arrive():
    whole = event(b"loss", 1, step=1) + event(b"loss", 2, step=2)
    first = len(whole) // 2
    hole = whole[:first] + bytes(first)
    piece = event_files.read(io.BytesIO(hole), 0, WHOLE)
    assert ([s.step for s in piece.scalars], piece.offset, piece.gaps) == ([1], first, [])
    again = event_files.read(io.BytesIO(whole), piece.offset, WHOLE)
    assert [s.step for s in again.scalars] == [2]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("events.out.tfevents.1", "loss"),
        ("runs/Nov23_12-00-00_host/events.out.tfevents.1", "loss"),
        ("logs/fit/20261123-120000/validation/events.out.tfevents.1", "validation/loss"),
        ("lightning_logs/version_3/events.out.tfevents.1", "loss"),
        ("runs/a/loss_train/events.out.tfevents.1", "a/loss_train/loss"),
    ],
)
def test_metric_has_the_folders_that_mean_something(path, name):
    assert event_files.metric_name(path, "loss") == name


@pytest.fixture
def job(story, home, monkeypatch, tmp_path) -> Job:
    """Return a running job whose output folder is `out`."""
    with platform_scope("test"):
        cluster_with()
        made = submit(story)
        claim_all(made.cluster)
        move(made, State.RUNNING, started_at=clock.now())
        out_of(made).mkdir(parents=True)
        yield made


def out_of(job: Job) -> Path:
    return Path(output_of(job.cluster, only_attempt(job).key).path)


@pytest.fixture(autouse=True)
def _slow_machine(monkeypatch):
    monkeypatch.setattr(tensorboard, "PIECE", 60)  # so that one run of the task reads all files


def move(job: Job, to: State, reason: Reason | None = None, **more) -> Attempt:
    return transition([StateChange(only_attempt(job).id, to, "test", reason, **more)])[0]


def read() -> dict[str, list[float | None]]:
    """Return all series of the only run, after the task has run."""
    tasks.read_event_files()
    runs = list(Run.objects.all())
    return {s.name: s.values for run in runs for s in series.query(run.series_owner)}


def test_files_in_the_output_of_a_job_are_read_into_its_run_as_they_grow(job):
    data = OLD.read_bytes()
    at = out_of(job) / "runs/Nov23_12-00-00_host/events.out.tfevents.1"
    at.parent.mkdir(parents=True)
    for size in (100, 450, len(data)):
        at.write_bytes(data[:size])
        before = read()
    assert before == {"loss/train": pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])}
    assert read() == before
    shutil.copy(NEW, out_of(job) / "events.out.tfevents.2")
    move(job, State.FAILED, Reason.USER_ERROR, finished_at=clock.now())
    assert read()["epoch_loss"] == pytest.approx([0.5, 0.4, 0.3])
    with clock.frozen(clock.now() + timedelta(hours=1)):
        shutil.copy(OLD, out_of(job) / "events.out.tfevents.3")
        read()
    assert EventFile.objects.count() == 2


def test_links_pipes_and_damage_are_skipped(job, tmp_path):
    secret = tmp_path / "other"
    secret.mkdir()
    shutil.copy(OLD, secret / "events.out.tfevents.1")
    out = out_of(job)
    (out / "events.out.tfevents.link").symlink_to(secret / "events.out.tfevents.1")
    (out / "folder").symlink_to(secret)
    os.mkfifo(out / "events.out.tfevents.pipe")
    (out / "events.out.tfevents.text").write_text("not a record, but long enough to be read")
    shutil.copy(NEW, out / "events.out.tfevents.good")
    assert list(read()) == ["epoch_loss"]
    move(job, State.FAILED, Reason.USER_ERROR, finished_at=clock.now())
    read()
    [told] = Event.objects.filter(kind="job.metrics_skipped")
    assert (told.data["file"], told.data["skipped_bytes"]) == ("events.out.tfevents.text", 40)
    out.rename(out.with_name("moved"))
    out.symlink_to(secret)
    assert list(read()) == ["epoch_loss"]


def test_damaged_file_of_a_report_keeps_what_is_good_and_the_job_says_so(job, story):
    script = CASES / "2026-11-27/tensorboard-damaged.py"
    subprocess.run([sys.executable, script, out_of(job)], check=True)
    assert read() == {"good": [1.0], "later": [3.0]}
    read()
    [told] = Event.objects.filter(kind="job.metrics_skipped", subject_id=job.id)
    assert told.data["skipped_bytes"] == told.data["at_byte"] > 0
    page = story.client(story.ada).get(f"/atlas/jobs/{job.number}?tab=metrics")
    assert "events.out.tfevents.1.damaged is damaged" in page.content.decode()


def test_hole_that_is_filled_later_is_read_again(job):
    records = [event(b"loss", n, step=n) for n in range(1, 4)]
    path = out_of(job) / "events.out.tfevents.1"
    path.write_bytes(records[0] + bytes(len(records[1])) + records[2])
    assert read() == {"loss": [1, 3]}
    path.write_bytes(b"".join(records))
    assert read() == {"loss": [1, 2, 3]}
    assert not EventFile.objects.get().gaps and not Event.objects.filter(kind="job.metrics_skipped")


def test_records_that_pretend_to_be_long_cost_a_call_no_more_than_others():
    """Each header is right, and the data behind it is not: it is read for each of them."""
    head = struct.pack("<Q", event_files.LONGEST)
    head += struct.pack("<I", event_files._masked_crc(head))
    file = Counting(head * 1000 + bytes(event_files.LONGEST + 4) + event(b"loss", 1))
    piece = event_files.read(file, 0, 4 << 20)
    assert piece.offset > 0 and file.count < 2 * event_files.MOST_READ
    file.count = 0
    event_files.read(file, len(head) * 1000 - 1, 16 << 20)
    assert file.count < 2 * event_files.MOST_READ


def test_large_gap_is_read_again_piece_by_piece(job, monkeypatch):
    monkeypatch.setattr(tensorboard, "BUDGET", 200)
    monkeypatch.setattr(event_files, "_SCAN", 400)
    records = [event(b"loss", n, step=n) for n in range(1, 30)]
    path = out_of(job) / "events.out.tfevents.1"
    path.write_bytes(records[0] + bytes(sum(map(len, records[1:-1]))) + records[-1])
    assert read() == {"loss": [1, 29]}
    calls, original = [], event_files.read
    monkeypatch.setattr(
        event_files, "read", lambda *given: calls.append(given[2]) or original(*given)
    )
    path.write_bytes(b"".join(records))
    assert read() == {"loss": [*range(1, 30)]}
    assert max(calls) <= 200 and not EventFile.objects.get().gaps


class Counting(io.BytesIO):
    """A file that counts the bytes that are read from it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


def test_bytes_that_a_job_sends_are_read_once(job, story):
    api, data = story.api(story.ben), OLD.read_bytes()
    url = f"/api/v1/orgs/atlas/jobs/{job.number}/event-files?path=runs/events.out.tfevents.1"

    def send(offset: int, end: int) -> dict[str, int]:
        answer = api.post(
            f"{url}&offset={offset}&size={end}",
            data[offset:end],
            content_type="application/octet-stream",
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    first = send(0, 300)
    assert 0 < first["offset"] <= 300 and first["points"]
    assert send(0, 300) == {**first, "points": 0}  # repeated after a lost answer
    assert send(first["offset"], len(data))["offset"] == len(data)
    assert read() == {"loss/train": pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])}
    other = story.api(story.cyd).post(f"{url}&offset=0&size=1", b"x", content_type="image/png")
    assert other.status_code == 404


def record(data: bytes) -> bytes:
    """Return a record as TFRecord frames it."""
    size = struct.pack("<Q", len(data))
    checksums = [struct.pack("<I", event_files._masked_crc(part)) for part in (size, data)]
    return size + checksums[0] + data + checksums[1]


def event(tag: bytes, value: float, step: int = 1, at: float = 1.7e9) -> bytes:
    """Return a record with a scalar; lengths and the step are below 128 or 63 bits long."""
    number = b"".join(bytes([step >> 7 * n & 0x7F | 0x80]) for n in range(9)) + b"\0"
    inner = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes([len(inner)]) + inner
    whole = b"\x09" + struct.pack("<d", at) + b"\x10" + number
    return record(whole + b"\x2a" + bytes([len(summary)]) + summary)


def test_hostile_files_do_not_stop_those_of_other_jobs(job, monkeypatch):
    out = out_of(job)
    odd = [event(b"a\0b", 1), event(b"far", 1, at=1e300), event(b"step", 1, step=2**62)]
    (out / "events.out.tfevents.1").write_bytes(b"".join(odd) + event(b"good", 0.5))
    (out / "events.out.tfevents.\udcff").write_bytes(event(b"odd_name", 0.25))
    assert read() == {"good": [0.5], "odd_name": [0.25]}
    monkeypatch.setattr("portal.series.store.MOST_CURVES", 3)
    many = b"".join(event(b"m%d" % n, 1) for n in range(5))
    (out / "events.out.tfevents.2").write_bytes(many)
    assert read() == read() and EventFile.objects.get(offset=-1).path.endswith(".2")
