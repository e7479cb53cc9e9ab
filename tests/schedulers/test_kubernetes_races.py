"""Test Kubernetes with events that arrive in any order, against a double."""

from __future__ import annotations

from schedulers.states import Reason, State
from tests.schedulers.kubernetes_stage import launch, state_of


def test_job_event_before_pod_event_reports_end_of_pod(double, backend, wait_for, monkeypatch):
    key = backend.submit(launch("sleep 0.5; exit 4")).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    monkeypatch.setattr(
        backend._view._pods, "_take", lambda _: None
    )  # this watch is slower than the other
    wait_for(lambda: backend._view._jobs.of(key)[0].get("status", {}).get("conditions"))
    seen = wait_for(
        lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
    )
    assert (seen.reason, seen.exit_code) == (Reason.USER_ERROR, 4)


def test_end_of_deleted_pod_waits_for_watch(double, backend, wait_for, monkeypatch):
    key, late = backend.submit(launch("sleep 60")).key, []
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    pods = backend._view._pods
    take = pods._take
    monkeypatch.setattr(pods, "_take", late.append)
    double.node.delete(double.store.all("pods", "")[0])
    wait_for(lambda: not double.store.all("pods", ""))
    wait_for(lambda: backend._view._jobs.of(key)[0].get("status", {}).get("conditions"))
    assert state_of(backend, key) == State.RUNNING
    wait_for(lambda: late and late[-1]["type"] == "DELETED")
    for event in late:
        take(event)
    seen = backend.poll([key]).observations[0]
    assert (seen.reason, seen.exit_code) == (Reason.INTERRUPTED, 143)
