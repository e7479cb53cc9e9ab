"""Image check in dry run, form and submission, with a real registry."""

from __future__ import annotations

import json
import time

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clusters.models import Node, Pool
from jobs import services
from jobs.images import lookups
from jobs.models import Job
from portal.core.errors import InvalidInput
from schedulers.images.registry import ImageUnreadable
from schedulers.spec import parse_mapping
from tests.jobs.images.test_hostile_registry import serve  # noqa: F401  a server that hangs
from tests.jobs.stage import submit
from workspaces.tenancy.scope import org_scope, platform_scope

CUDA_12 = {"NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}
GPU = {"accelerators": 1}
JOBS = "/api/v1/orgs/atlas/jobs"


def rehearse(story, image, **spec):
    spec = parse_mapping({"run": "true", "image": image, "resources": GPU, **spec})
    with org_scope(story.atlas.id):
        return services.dry_run_job(actor=story.actor(story.ada), team=story.vision, spec=spec)


def check_named(told, name="image"):
    return next(check for check in told.checks if check.name == name)


def test_dry_run_counts_fitting_nodes_and_explains_the_others(story, allowed, add_nodes):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(30, driver="550.54.15")
    add_nodes(2, driver="470.82.01")
    result = rehearse(story, f"{allowed.host}/torch:v1")
    check = check_named(result)
    assert check.is_ok
    assert check.text.startswith(
        "The image fits 30 of 32 nodes; 2 have driver 470.82.1, it needs 525 or newer (CUDA 12.0)."
    )
    assert "Choose an image for CUDA 11.4 or older there" in check.text
    assert result.is_ok


def test_only_nodes_with_the_requested_gpus_are_counted(story, allowed, add_nodes):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(3, driver="550.54.15")
    add_nodes(2, driver="470.82.01", model="Tesla T4")
    assert (
        check_named(
            rehearse(story, f"{allowed.host}/torch:v1", resources={"accelerators": "H200:1"})
        ).text
        == "The image fits all 3 nodes."
    )
    assert (
        "0 of 2 nodes"
        in check_named(
            rehearse(story, f"{allowed.host}/torch:v1", resources={"accelerators": "T4:1"})
        ).text
    )
    assert (
        check_named(rehearse(story, f"{allowed.host}/torch:v1", resources={})).text
        == "The image fits all 5 nodes."
    )


def test_image_that_fits_nowhere_is_refused_once_known(story, allowed, add_nodes, wait_for):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, driver="470.82.01")
    name = f"{allowed.host}/torch:v1"
    submit(story, image=name, resources=GPU)  # Unknown, so it is accepted, and looked up now.
    wait_for(lambda: lookups.cached_image(name))
    with pytest.raises(
        InvalidInput,
        match=r"fits 0 of 2 nodes; 2 have driver 470\.82\.1, it needs 525 .* set `image_check: warn`",
    ) as refused:
        submit(story, image=name, resources=GPU)
    assert refused.value.data["errors"][0]["field"] == "image"
    result = rehearse(story, name)
    assert (result.is_ok, check_named(result).is_ok) == (False, False)


def test_image_fixed_under_its_tag_is_accepted_at_the_second_submission(
    story, allowed, add_nodes, wait_for, monkeypatch
):
    monkeypatch.setattr(lookups, "FRESH", 0)
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, driver="470.82.01")
    name = f"{allowed.host}/torch:v1"
    assert not rehearse(story, name).is_ok
    digest = allowed.push("torch", "v1", {"NVIDIA_REQUIRE_CUDA": "cuda>=11.0"})
    with pytest.raises(InvalidInput):
        submit(story, image=name, resources=GPU)
    wait_for(lambda: lookups.cached_image(name).digest == digest)
    assert submit(story, image=name, resources=GPU).number == 1
    assert rehearse(story, name).is_ok


@pytest.mark.parametrize(
    "way",
    [
        {"policy": {"image_check": "warn"}},
        {"envs": {"NVIDIA_DISABLE_REQUIRE": "1"}},
        {"resources": {}},
    ],
)
def test_refusal_can_be_overridden(story, allowed, add_nodes, way):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, driver="470.82.01")
    name = f"{allowed.host}/torch:v1"
    assert not rehearse(story, name).is_ok
    assert rehearse(story, name, **way).is_ok
    assert submit(story, **{"image": name, "resources": GPU, **way}).number == 1


def test_nodes_without_facts_refuse_nothing(story, allowed, add_nodes):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, arch="")
    check = check_named(rehearse(story, f"{allowed.host}/torch:v1"))
    assert check.is_ok and check.text == (
        "The image fits 0 of 2 nodes; 2 tell no driver version, it needs driver 525 or newer "
        "(CUDA 12.0)."
    )
    assert submit(story, image=f"{allowed.host}/torch:v1", resources=GPU).number == 1


def test_facts_of_the_node_agent_count_if_the_cluster_reports_none(story, allowed, add_nodes):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(1, arch="")
    Node.objects.update(reported={"arch": "amd64", "driver": "470.82.01", "compute": "9.0"})
    assert "1 has driver 470.82.1" in check_named(rehearse(story, f"{allowed.host}/torch:v1")).text


def test_unknown_or_silent_registry_changes_nothing(story, allowed, add_nodes):
    add_nodes(1, driver="550.54.15")
    result = rehearse(story, f"{allowed.host}/none:v1")
    assert check_named(result).is_ok is None
    assert (
        check_named(result).text
        == "Not checked: the registry has no such image. This refuses nothing."
    )
    assert result.is_ok
    assert submit(story, image=f"{allowed.host}/none:v1", resources=GPU).number == 1


def test_cached_result_outlives_a_registry_outage(story, allowed, add_nodes, monkeypatch):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, driver="470.82.01")
    before = check_named(rehearse(story, f"{allowed.host}/torch:v1"))

    def silence(*_):
        raise ImageUnreadable("the registry does not answer")

    monkeypatch.setattr(lookups, "FRESH", 0)
    monkeypatch.setattr(lookups, "read_image", silence)
    assert check_named(rehearse(story, f"{allowed.host}/torch:v1")) == before
    assert (
        "Not checked: the registry does not answer"
        in check_named(rehearse(story, f"{allowed.host}/other:v1")).text
    )


def test_submission_does_not_wait_for_a_hanging_registry(
    story,
    cluster,
    add_nodes,
    serve,  # noqa: F811
    settings,
):
    server = serve(lambda c, _: c.recv(1))  # until the other side gives up
    settings.MUSTER_IMAGE_CHECK, settings.MUSTER_IMAGE_REGISTRIES = True, [f"http://{server.host}"]
    cache.clear()
    add_nodes(1)
    begin = time.monotonic()
    for _ in range(5):
        submit(story, image=f"{server.host}/torch:v1", resources=GPU)
    assert time.monotonic() - begin < 3  # one lookup's timeout
    assert (
        "did not answer within 3 s" in check_named(rehearse(story, f"{server.host}/torch:v1")).text
    )


def test_registry_and_nodes_are_read_once_for_many_submissions(
    story, allowed, add_nodes, monkeypatch
):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(1, driver="550.54.15")
    name = f"{allowed.host}/torch:v1"
    assert not isinstance(lookups.lookup_image(name), str)
    monkeypatch.setattr(lookups, "read_image", lambda *_: pytest.fail("it was asked again"))
    submit(story, image=name, resources=GPU)
    with CaptureQueriesContext(connection) as with_image:
        submit(story, image=name, resources=GPU)
    with CaptureQueriesContext(connection) as without:
        submit(story, resources=GPU)
    assert len(with_image) == len(without)


def test_member_without_submit_permission_causes_no_lookup(story, allowed, add_nodes, monkeypatch):
    add_nodes(1)
    monkeypatch.setattr(lookups, "start_lookup", lambda name: pytest.fail("a registry was asked"))
    spec = parse_mapping({"run": "true", "image": f"{allowed.host}/torch:v1"})
    with org_scope(story.atlas.id):
        result = services.dry_run_job(actor=story.actor(story.ben), team=story.speech, spec=spec)
    assert check_named(result, "access").is_ok is False


def test_operator_can_disable_the_check(story, allowed, add_nodes, settings):
    settings.MUSTER_IMAGE_CHECK = False
    add_nodes(1)
    assert (
        check_named(rehearse(story, f"{allowed.host}/torch:v1")).text
        == "Not checked: the operator has disabled it. This refuses nothing."
    )


def test_pool_choice_skips_pools_whose_nodes_cannot_run_the_image(
    story, allowed, cluster, add_nodes
):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(4, driver="470.82.01", partitions=["old"])
    add_nodes(1, driver="550.54.15", partitions=["new"])
    for name in ("old", "new"):
        Pool.objects.create(name=name, cluster=cluster, partition=name, is_open=True)
    name = f"{allowed.host}/torch:v1"
    assert check_named(rehearse(story, name), "place").text.startswith(
        "Runs on cluster big. new, because"
    )
    with pytest.raises(InvalidInput, match="old: The image fits 0 of 4 nodes"):
        submit(story, image=name, resources=GPU, policy={"pool": "old"})
    assert (
        submit(
            story, image=name, resources=GPU, policy={"pool": "old", "image_check": "warn"}
        ).pool.name
        == "old"
    )
    Pool.objects.filter(name="new").update(partition="none")  # it lacks the GPUs, too
    with pytest.raises(InvalidInput, match=r"^image: old: The image fits 0 of 4 nodes") as refused:
        submit(story, image=name, resources=GPU)
    assert [one["field"] for one in refused.value.data["errors"]] == ["image"]


def validate(client, **body):
    return client.post(f"{JOBS}/validate", json.dumps(body), content_type="application/json").json()


def test_form_checks_the_image_once_its_name_is_complete(story, allowed, add_nodes, wait_for):
    allowed.push("torch", "v1", CUDA_12)
    add_nodes(2, driver="470.82.01")
    ada, text = (
        story.api(story.ada),
        f"run: 'true'\nimage: {allowed.host}/torch:v1\nresources: {{accelerators: 1}}",
    )
    assert validate(ada, yaml=text, team="vision")["image"] == {
        "ok": None,
        "doubtful": False,
        "text": "",
    }
    assert lookups.cached_image(f"{allowed.host}/torch:v1") is None  # no lookup was made
    validate(ada, yaml=text, team="vision", settled=True)
    wait_for(lambda: lookups.cached_image(f"{allowed.host}/torch:v1"))
    result = validate(ada, yaml=text, team="vision")["image"]
    assert (result["ok"], result["doubtful"]) == (False, True)
    assert result["text"].startswith("The image fits 0 of 2 nodes")
    assert validate(ada, yaml="run: 'true'", team="vision", settled=True)["image"] is None
    # Without a team there are no pools.
    assert validate(ada, yaml=text, settled=True)["image"] is None
    with platform_scope("test"):
        assert not Job.objects.exists()
