"""The portal's own machine as a cluster: which organization it serves, and under which uids."""

from __future__ import annotations

import os
import subprocess
import sys

from clusters.models import Cluster, LocalUser
from clusters.sharing import uids_of
from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.models import Attempt
from schedulers.spec import parse_mapping
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope


def test_cluster_without_isolation_serves_one_organization_and_tells_others(story, settings):
    cluster = cluster_with()
    Cluster.objects.filter(id=cluster.id).update(config={"isolation": "none"})
    with org_scope(story.borealis.id):
        waits = services.submit_job(
            actor=story.actor(story.cyd), team=story.north, spec=parse_mapping({"run": "true"})
        )
    runs = submit(story)
    with platform_scope("test"):
        assert [attempt.job_id for attempt in claim_due(cluster.id).attempts] == [runs.id]
        assert Attempt.objects.get(job=waits).wait == "reserved"
    pending = (
        story.client(story.cyd).get(f"/api/v1/orgs/borealis/jobs/{waits.number}").json()["pending"]
    )
    assert "local runs jobs of one other organization only" in pending[
        "text"
    ] and "Atlas" not in str(pending)
    settings.MUSTER_LOCAL_ORG = "nosuch"
    again = submit(story)
    with platform_scope("test"):
        assert (
            claim_due(cluster.id) is None and Attempt.objects.get(job=again).wait == "reserved"
        ), "a wrong name opens it to nobody"
    settings.MUSTER_LOCAL_ORG = ""
    page = story.client(story.dot).get("/platform/clusters/local").content.decode()
    assert "Jobs are not isolated from the portal" in page and "It runs jobs of Atlas only." in page


def test_each_team_has_a_uid_that_is_never_reused(story, settings):
    settings.MUSTER_LOCAL_UIDS = "70000-70001"
    cluster = cluster_with()
    first = uids_of(cluster, [story.vision.id])[story.vision.id]
    assert first == 70000 and uids_of(cluster, [story.vision.id, story.speech.id]) == {
        story.vision.id: 70000,
        story.speech.id: 70001,
    }
    with org_scope(story.atlas.id):
        story.vision.delete()
    assert uids_of(cluster, [story.north.id]) == {}, "the range is used up"
    assert LocalUser.objects.count() == 2


def test_server_mode_has_no_local_cluster_by_default(subtests, tmp_path):
    for given, first in [({}, ""), ({"MUSTER_LOCAL_CLUSTER": "1"}, "local")]:
        with subtests.test(given=given, first=first):
            env = {
                "PATH": os.environ["PATH"],
                "MUSTER_HOME": str(tmp_path),
                "MUSTER_REDIS_URL": "redis://127.0.0.1:1/0",
                **given,
            }
            program = "from portal.settings import muster; print(muster.MUSTER_FIRST_BACKEND)"
            done = subprocess.run(
                [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
            )
            assert done.stdout.strip() == first
