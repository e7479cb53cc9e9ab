"""Moving and sealing logs: an error affects one log, is logged once, and recovers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
from django.db import OperationalError

from jobs.dispatch.watch import logs, watcher
from jobs.models import Attempt
from portal.blobs.logs import FULL, log_store
from portal.core import clock
from portal.core.ids import uuid7
from schedulers.contract import LogChunk
from schedulers.contract import Unavailable as ClusterUnavailable
from schedulers.states import Reason, State
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, only_attempt, submit
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.usefixtures("home")


class Outputs(BackendDouble):
    """Each job wrote its key; reading one named in `breaks` raises."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks: dict[str, Exception] = {}

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        if key in self.breaks:
            raise self.breaks[key]
        return LogChunk(after, key.encode()[after : after + limit], 1)


@pytest.fixture
def ended(story) -> Iterator[list[Attempt]]:
    """Return three attempts whose jobs have ended."""
    cluster = cluster_with()
    with org_scope(story.atlas.id):
        found = [only_attempt(submit(story)) for _ in range(3)]
    with platform_scope("test"):
        Attempt.objects.filter(id__in=[a.id for a in found]).update(
            cluster=cluster,
            state=State.SUCCEEDED,
            reason=Reason.COMPLETED,
            native_id="1",
            started_at=clock.now(),
            exit_code=0,
        )
        yield list(Attempt.objects.filter(id__in=[a.id for a in found]).order_by("id"))


def sealed(attempts: list[Attempt]) -> list[bool]:
    return [log_store().certificate(a.id.hex) is not None for a in attempts]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("?"),
        KeyError("pid"),
        OSError(5, "input/output error"),
        ClusterUnavailable("down"),
    ],
)
def test_error_with_one_log_delays_no_other_and_recovers(ended, error):
    backend = Outputs()
    backend.breaks[ended[0].key] = error
    logs.seal(backend, ended)
    assert sealed(ended) == [False, True, True]
    backend.breaks.clear()
    logs.seal(backend, ended[:1])
    assert sealed(ended) == [True, True, True]
    assert log_store().read(ended[0].id.hex, 0).data == ended[0].key.encode()


def test_log_that_cannot_be_sealed_delays_no_other(ended):
    folder = log_store().root / ended[0].id.hex[-2:] / ended[0].id.hex
    folder.mkdir(parents=True)
    (folder / "nonsense.seg").touch()
    logs.seal(Outputs(), ended)
    assert sealed(ended)[1:] == [True, True]


@pytest.mark.parametrize(
    "turn", [logs.pump, lambda backend, attempt: logs.seal(backend, [attempt])]
)
def test_log_error_is_logged_once_and_again_after_recovery(ended, caplog, turn):
    backend = Outputs()
    down = {ended[0].key: ClusterUnavailable("down")}
    with caplog.at_level(logging.WARNING, logger="jobs.dispatch.watch.logs"):
        for backend.breaks in (down, down, down):
            turn(backend, ended[0])
        assert [r.getMessage() for r in caplog.records] == [f"log of {ended[0].key}: down"]
        backend.breaks = {}
        logs.pump(backend, ended[0])
        backend.breaks = down
        turn(backend, ended[0])
    assert len(caplog.records) == 2


def test_errors_of_thousands_of_running_jobs_are_logged_once_each(caplog):
    backend = Outputs()
    attempts = [Attempt(id=uuid7(), index=0, ordinal=1, job_id=uuid7()) for _ in range(2000)]
    backend.breaks = {a.key: ClusterUnavailable("no spool") for a in attempts}
    with caplog.at_level(logging.WARNING, logger="jobs.dispatch.watch.logs"):
        for attempt in (*attempts, *attempts):
            logs.pump(backend, attempt)
    assert len(caplog.records) == len(attempts)


def test_database_error_is_raised(ended, monkeypatch):
    def fails(*args: object, **more: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(logs, "_close", fails)
    with pytest.raises(OperationalError):
        logs.seal(Outputs(), ended)


def test_logs_that_cannot_be_sealed_yet_do_not_block_later_ones(ended, monkeypatch):
    monkeypatch.setattr(watcher, "SEALED_PER_TURN", 1)
    backend = Outputs()
    backend.breaks = {a.key: ClusterUnavailable("down") for a in ended[:2]}
    watch = watcher.Watcher(ended[0].cluster_id)
    for _ in range(4):
        watch._seal(ended[0].cluster, backend)
    assert sealed(ended) == [False, False, True]
    backend.breaks = {}
    for _ in range(4):
        watch._seal(ended[0].cluster, backend)
    assert sealed(ended) == [True, True, True]


def test_watcher_that_cannot_release_its_lease_stops_and_logs_it(ended, monkeypatch, caplog):
    def fails(*args: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(watcher.leases, "release", fails)
    stop = threading.Event()
    stop.set()
    with caplog.at_level(logging.ERROR, logger="jobs.dispatch.watch.watcher"):
        watcher.Watcher(ended[0].cluster_id).run(stop)
    assert len(caplog.records) == 1


def test_states_of_a_burst_are_recorded_before_its_slow_logs_are_read(story, monkeypatch):
    monkeypatch.setattr(watcher, "LAST_LINES", 0.05)
    backend, cluster, gate = Outputs(), cluster_with(), threading.Event()
    monkeypatch.setattr(
        backend,
        "read_log",
        lambda key, *rest: gate.wait(10) and Outputs.read_log(backend, key, *rest),
    )
    for where in ("clusters.backends.backend_of", "jobs.dispatch.watch.watcher.backend_of"):
        monkeypatch.setattr(where, lambda row: backend)
    for _ in range(3):
        submit(story)
    dispatch_all()
    for key in list(backend.alive):
        backend.finish(key)
    watch = watcher.Watcher(cluster.id)
    with platform_scope("test"):
        watch.look_at_states()
        ended = list(Attempt.objects.all())
        assert [a.state for a in ended] == [State.SUCCEEDED] * 3 and sealed(ended) == [False] * 3
        gate.set()
        watch.look_at_logs()
        assert sealed(ended) == [True] * 3
    assert {log_store().read(a.id.hex, 0).data for a in ended} == {a.key.encode() for a in ended}


def test_terabytes_past_the_size_limit_are_sealed_at_once_with_exact_length(ended, monkeypatch):
    size, backend = (1 << 40) + 12_345, Outputs()
    monkeypatch.setattr(log_store(), "limit", 1 << 20)
    monkeypatch.setattr(logs, "PER_TURN", 1 << 20)
    monkeypatch.setattr(
        backend,
        "read_log",
        lambda key, after, limit=1: LogChunk(after, bytes(max(min(limit, size - after), 0)), 1),
    )
    logs.seal(backend, ended[:1])
    assert log_store().certificate(ended[0].id.hex).gaps == [(1 << 20, size, FULL)]
