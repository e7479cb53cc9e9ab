"""Background loops are repeated, retried and stopped."""

from __future__ import annotations

import threading

from portal.background import Background, _name, embedded_loops, every, server_loops
from portal.celery import app, schedule


def test_background_loop_is_called_at_its_interval_until_stopped(wait_for):
    calls: list[int] = []
    background = Background([every(0.01)(lambda stop: calls.append(1))])
    background.start()
    wait_for(lambda: len(calls) >= 3)
    assert background.stop() == []
    seen = len(calls)
    assert not threading.Event().wait(0.05)
    assert len(calls) == seen


def test_background_loop_that_raises_is_logged_and_retried(wait_for, caplog):
    calls: list[int] = []

    @every(0.01)
    def moody(stop: threading.Event) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("the disk is full")

    background = Background([moody])
    background.start()
    wait_for(lambda: len(calls) >= 2)
    background.stop()
    assert "moody failed; retrying in 1 s" in caplog.text


def test_background_loop_that_does_not_stop_is_named():
    release = threading.Event()

    def stubborn(stop: threading.Event) -> None:
        release.wait(20)

    background = Background([stubborn])
    background.start()
    assert background.stop(0.05) == [f"{__name__}.{stubborn.__qualname__}"]
    release.set()


def test_loops_of_apps_replace_the_server_stack_and_run_once_beside_the_watcher():
    embedded, server = (
        {_name(loop) for loop in found} for found in (embedded_loops(), server_loops())
    )
    assert {"jobs.background.ticker", "jobs.background.watcher", "monitoring.background.agent"} == {
        name for name in embedded - server if "demo" not in name
    }
    assert server - embedded == {"jobs.background.standby"}
    assert {
        "jobs.saving.background.saver",
        "portal.core.audit.background.sealer",
        "notifications.background.mailer",
    } <= embedded & server


def test_schedule_names_only_tasks_that_exist():
    app.loader.import_default_modules()
    assert len(schedule()) >= 24 and {task for task in schedule() if task not in app.tasks} == set()
