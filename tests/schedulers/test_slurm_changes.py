"""Test that a real slurmrestd is asked for jobs only after changes, and reports every change."""

from __future__ import annotations

import pytest

from schedulers.slurm.rest import RestClient
from tests.schedulers.conftest import REST


@pytest.fixture
def answers(monkeypatch) -> list[bool]:
    """Record for each listing whether it reported no change."""
    received: list[bool] = []
    changed = RestClient._changed

    def noted(door: RestClient):
        found = changed(door)
        received.append(found is None)
        return found

    monkeypatch.setattr(RestClient, "_changed", noted)
    return received


@REST
def test_unchanged_queue_is_not_listed_and_change_is_seen(stage, slurm, answers, wait_for):
    slurm.run(
        "scontrol", "update", f"nodename={','.join(slurm.nodes)}", "state=drain", "reason=test"
    )
    try:
        client, keys = stage.backend._client, [stage.submit("true").key for _ in range(3)]
        wait_for(lambda: (len(client._all()), answers[-1])[1], 30)
        rows = client._all()
        assert {row.key for row in rows} >= set(keys) and (client._all() is rows or not answers[-1])
        slurm.run("scancel", str(next(row.id for row in rows if row.key == keys[0])))
        assert {row.key: row.state for row in client._all()}[
            keys[0]
        ] == "CANCELLED" and not answers[-1]
    finally:
        slurm.run("scontrol", "update", f"nodename={','.join(slurm.nodes)}", "state=resume")
