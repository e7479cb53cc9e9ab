"""The periodic sweep finds work whose hint was lost, and is silent otherwise."""

from __future__ import annotations

from datetime import timedelta

from jobs.dispatch import claims
from jobs.models import Attempt
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.tenancy.scope import platform_scope

DUE = [
    (State.QUEUED, -1, None, True),
    (State.QUEUED, 60, None, False),
    (State.QUEUED, None, None, False),
    (State.DISPATCHING, -1, -1, True),
    (State.DISPATCHING, -1, 10, False),
    (State.RUNNING, -1, None, False),
    (State.FAILED, -1, None, False),
]


def test_sweep_wakes_a_planner_only_for_due_or_abandoned_attempts(subtests, story, monkeypatch):
    cluster_with()
    attempt, result = only_attempt_of(story), []
    monkeypatch.setattr(claims, "wake_worker", result.append)
    for state, due, lease, is_told in DUE:
        with subtests.test(state=state, due=due, lease=lease):
            result.clear()
            with platform_scope("test"):
                Attempt.objects.filter(id=attempt.id).update(
                    state=state, due_at=_at(due), lease_until=_at(lease)
                )
            claims.due_sweep()
            assert result == (["jobs.dispatch"] if is_told else [])


def only_attempt_of(story):
    with platform_scope("test"):
        return only_attempt(submit(story))


def _at(seconds):
    return None if seconds is None else clock.now() + timedelta(seconds=seconds)
