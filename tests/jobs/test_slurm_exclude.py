"""A retry after a GPU error on a real Slurm: it runs on another node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.models import Attempt
from monitoring.metrics.ingest import ingest
from portal.core import clock
from schedulers.states import Reason, State
from tests.jobs.slurm_site import Site, site_on
from tests.rig.slurm import Slurm
from tests.story import Story

pytestmark = pytest.mark.integration
FAILS_FIRST = '[ "$MUSTER_ATTEMPT" -gt 1 ] || { sleep 4; exit 1; }'


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    with site_on(story, slurm, by_rest=request.param == "rest") as site:
        yield site


@pytest.mark.parametrize("site", ["rest", "commands"], indirect=True)
def test_retry_after_a_gpu_error_runs_on_another_node(site: Site) -> None:
    site.submit(
        FAILS_FIRST,
        resources={"accelerators": 1},
        policy={"retries": 1, "backoff": 0},
    )
    site.until(lambda: site.states() == [State.RUNNING], 30)
    node = Attempt.objects.get().node
    events = [{"kind": "xid", "code": 79, "gpu": 0, "at": clock.now_ms()}]
    ingest({"node": node, "at": clock.now_ms(), "events": events})
    site.until(site.is_over, 60)
    first, second = Attempt.objects.order_by("ordinal")
    assert (first.reason, second.avoid) == (Reason.XID, {"nodes": [node], "gpus": []})
    assert second.state == State.SUCCEEDED and second.node != node
    told = site.slurm.run("scontrol", "show", "job", second.native_id)
    assert f"ExcNodeList={node}" in told
