"""Jobs on several nodes: all names are stored, and shown by API and pages."""

from __future__ import annotations

import json

from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.scheduling.cluster_load import jobs_visible_to, reserved_by_node
from portal.core import clock
from schedulers.kubernetes import states as kubernetes
from schedulers.slurm import states as slurm
from schedulers.slurm.rows import Row
from schedulers.states import Reason, State
from tests.each import each
from tests.jobs.stage import claim_all, cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

NAMES = [f"a-node-with-quite-a-long-name-{n:03}.cluster.example" for n in range(64)]


def running(story, *nodes: str) -> Job:
    cluster_with()
    job = submit(story)
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=job)
        transition(
            [
                StateChange(
                    attempt.id,
                    State.RUNNING,
                    "test",
                    node=nodes[0],
                    nodes=nodes if len(nodes) > 1 else (),
                )
            ]
        )
        return Job.objects.get(id=job.id)


def test_all_nodes_are_stored_and_returned_by_the_api(story):
    job = running(story, *NAMES)
    data = story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs/{job.number}").json()
    assert (data["node"], data["nodes"], data["attempts"][0]["nodes"]) == (NAMES[0], NAMES, NAMES)


def test_one_node_is_a_list_of_one_and_none_an_empty_list(story):
    job = running(story, "n7")
    api = story.api(story.ada)
    assert api.get(f"/api/v1/orgs/atlas/jobs/{job.number}").json()["nodes"] == ["n7"]
    waiting = submit(story)
    assert api.get(f"/api/v1/orgs/atlas/jobs/{waiting.number}").json()["nodes"] == []


def test_legacy_row_with_comma_separated_nodes_is_returned_alike(story):
    job = running(story, "n1,n2")
    data = story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs/{job.number}").json()
    assert (data["node"], data["nodes"]) == ("n1", ["n1", "n2"])


def test_pages_show_the_first_node_and_the_number_of_others(story):
    job = running(story, "n1", "n2", "n3", "n4")
    page = story.client(story.ada).get(f"/atlas/jobs/{job.number}").content.decode()
    assert (
        "<summary>+ 3 more</summary>" in page
        and '<a href="/atlas/nodes/n4?cluster=local">n4</a>' in page
    )
    row = story.client(story.ada).get("/atlas/jobs").content.decode()
    assert 'title="n1, n2, n3, n4">n1 <span class="faint">+ 3 more</span>' in row


def test_each_node_lists_the_job(story):
    job = running(story, "n1", "n2")
    with org_scope(story.atlas.id):
        seen = jobs_visible_to(story.actor(story.ada))
    assert {name: [j["number"] for j in jobs] for (_, name), jobs in seen.items()} == {
        "n1": [job.number],
        "n2": [job.number],
    }


def test_slurm_reports_the_batch_node_first():
    row = Row(7, "RUNNING", "t-1", started=1000, nodes="n[1-3]")
    seen = slurm.live(row, slurm.Record(started=1000.5, node="n2"))
    assert (seen.node, tuple(seen.nodes)) == ("n2", ("n2", "n1", "n3"))
    fresh = slurm.live(row, slurm.Record())
    assert (fresh.node, tuple(fresh.nodes)) == ("n1", ("n1", "n2", "n3"))
    ended = slurm.ended(
        Row(7, "COMPLETED", "t-1", started=1000, ended=1010, nodes="n3"),
        slurm.Record(started=1000.5),
        slurm.Evidence(),
    )
    assert (ended.node, tuple(ended.nodes), ended.reason) == ("n3", (), Reason.COMPLETED)


def test_kubernetes_reports_nodes_of_all_pods_and_rejects_long_names():
    pods = [{"spec": {"nodeName": name}} for name in (*NAMES, NAMES[0])] + [{"spec": {}}]
    result = kubernetes._where(pods)
    assert result == {"node": NAMES[0], "nodes": tuple(NAMES)}
    assert kubernetes._where(pods[:1]) == {"node": NAMES[0], "nodes": ()}


def test_portal_places_a_job_on_several_nodes_and_says_what_the_next_one_waits_for(story, tmp_path):
    cluster = cluster_with(nodes=3, gpus=8)
    cluster.backend, cluster.options = "simulated", {"home": str(tmp_path)}
    with platform_scope("test"):
        cluster.save()
    on_two_nodes = {"num_nodes": 2, "resources": {"accelerators": "H100:8"}}
    first, second = submit(story, **on_two_nodes), submit(story, **on_two_nodes)
    third = submit(story, resources={"accelerators": "H100:8"})
    with platform_scope("test"):
        taken = {attempt.job_id: attempt for attempt in claim_all(cluster)}
        assert taken.keys() == {first.id, third.id}
        assert taken[first.id].nodes == ["n0", "n1"] and taken[third.id].node == "n2"
        Attempt.objects.filter(job=first).update(state=State.RUNNING, started_at=clock.now())
        uuids = {
            name: sorted(gpus) for (_, name), (_, _, gpus) in reserved_by_node([cluster.id]).items()
        }
        assert uuids["n1"] == [f"GPU-1-{i}" for i in range(8)]
    with org_scope(story.atlas.id):
        jobs = jobs_visible_to(story.actor(story.ada))
        assert jobs[cluster.id, "n1"][0]["uuids"] == uuids["n1"]
    page = story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs/{second.number}").json()
    assert page["pending"]["text"] == (
        "The cluster is full: 0 of 24 GPUs free; this job needs 8 GPUs on each of 2 nodes."
    )


@each(
    ("num_nodes", "gpus", "field", "text"),
    [
        (3, 8, "num_nodes", "Too few nodes of the cluster are large enough: it asks 3, and"),
        (2, 9, "resources.accelerators", "No node of the cluster is large enough: the largest"),
    ],
)
def test_job_on_several_nodes_that_can_never_run_is_refused_at_its_field(
    story, tmp_path, num_nodes, gpus, field, text
):
    cluster = cluster_with(nodes=2, gpus=8)
    cluster.backend, cluster.options = "simulated", {"home": str(tmp_path)}
    with platform_scope("test"):
        cluster.save()
    spec = {"run": "true", "num_nodes": num_nodes, "resources": {"accelerators": gpus}}
    body, api = {"team": "vision"}, story.api(story.ada)
    refused, typed = (
        api.post(f"/api/v1/orgs/atlas{path}", {**body, **more}, content_type="application/json")
        for path, more in (
            ("/jobs", {"spec": spec}),
            ("/jobs/validate", {"yaml": json.dumps(spec)}),
        )
    )
    [fault] = refused.json()["errors"]
    assert (refused.status_code, fault["field"], text in fault["message"]) == (400, field, True)
    assert [one["field"] for one in typed.json()["start"]["errors"]] == [field]
