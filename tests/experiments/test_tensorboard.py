"""TensorBoard event files: those of real writers, torn and damaged ones, and folders with links.

tests/experiments/events has files that tensorboardX 2.6 and TensorBoard 2.20 have written: steps 0
to 4 of `loss/train`, with a text and a histogram; steps 0 to 2 of `epoch_loss`.
"""

from __future__ import annotations

import io
import os
import shutil
import struct
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import event_files, tasks, tensorboard
from experiments.models import EventFile, Run
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.outputs import output_of
from portal import series
from portal.core import clock
from schedulers.states import Reason, State
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
        found, end = event_files.read(file, 0, WHOLE)
    assert end == path.stat().st_size
    assert [(s.tag, s.step) for s in found] == [(tag, n) for n in range(len(expected))]
    assert [s.value for s in found] == pytest.approx(expected)
    if path == OLD:
        assert [s.at_ms for s in found] == [1_700_000_000_000 + 1000 * n for n in range(5)]


@given(st.lists(st.integers(0, OLD.stat().st_size), max_size=6), st.integers(1, 700))
def test_growing_file_yields_each_scalar_once(sizes, budget):
    data, offset, steps = OLD.read_bytes(), 0, []
    for size in [*sorted(sizes), *[len(data)] * len(data)]:
        found, offset = event_files.read(io.BytesIO(data[:size]), offset, budget)
        steps += [s.step for s in found]
        if offset == len(data):
            break
    assert steps == list(range(5))


@given(st.data())
def test_damaged_file_raises_nothing_else(data):
    raw = bytearray(OLD.read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=9)):
        raw[at] = data.draw(st.integers(0, 255))
    try:
        _, end = event_files.read(io.BytesIO(bytes(raw)), 0, WHOLE)
        assert end <= len(raw)
    except event_files.Corrupt:
        pass


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
    assert read() and EventFile.objects.get(offset=-1).path.endswith(".text")
    out.rename(out.with_name("moved"))
    out.symlink_to(secret)
    assert list(read()) == ["epoch_loss"]


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
