""" "no kernel image" failures are stored by digest, GPU and organization."""

from __future__ import annotations

import pytest

from jobs import services
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.images import lookups
from jobs.models import Attempt, ImageEnd
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from tests.jobs.stage import only_attempt, submit
from workspaces.tenancy.scope import org_scope, platform_scope

GPU = {"accelerators": 1}
TEXT = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


def end(
    story, image: str, node: str, digest: str = "", reason: Reason = Reason.NO_KERNEL_IMAGE, **spec
) -> Attempt:
    job = submit(story, **{"resources": GPU, **spec, **({"image": image} if image else {})})
    with org_scope(story.atlas.id):
        attempt = only_attempt(job)
    with platform_scope("test"):
        transition([StateChange(attempt.id, State.RUNNING, "test", node=node)])
        transition(
            [StateChange(attempt.id, State.FAILED, "test", reason, TEXT, 1, image_digest=digest)]
        )
    return attempt


def check_text(story, image: str, org=None, person=None, team=None) -> str:
    spec = parse_mapping({"run": "true", "image": image, "resources": GPU})
    with org_scope((org or story.atlas).id):
        result = services.dry_run_job(
            actor=story.actor(person or story.ada), team=team or story.vision, spec=spec
        )
    assert result.is_ok
    return next(check.text for check in result.checks if check.name == "image")


@pytest.fixture
def nodes(add_nodes) -> None:
    add_nodes(2, driver="550.54.15")
    add_nodes(1, driver="550.54.15", model="Tesla T4")


@pytest.fixture
def name(allowed) -> str:
    allowed.push("torch", "v1", {"CUDA_VERSION": "12.4"})
    return f"{allowed.host}/torch:v1"


T4, H200 = "TeslaT4-amd64-550.54.15-0", "NVIDIAH200-amd64-550.54.15-0"
WARNING = (
    "The image fits 2 of 3 nodes; 1 has Tesla T4, where this very image ended with “no kernel "
    "image is available” in job #1 on "
)


def test_failed_image_is_warned_about_on_that_gpu(story, allowed, nodes, name):
    assert check_text(story, name) == "The image fits all 3 nodes."
    end(story, name, T4, allowed.push("torch", "v1", {"CUDA_VERSION": "12.4"}))
    assert check_text(story, name).startswith(WARNING)
    assert "Use an image that is built for this GPU." in check_text(story, name)
    assert submit(story, image=name, resources=GPU).number == 2  # only a warning


def test_digest_comes_from_the_registry_if_the_runtime_reports_none(story, nodes, name):
    lookups.lookup_image(name)
    end(story, name, T4)
    assert check_text(story, name).startswith(WARNING)


def test_rebuilt_image_is_not_warned_about(story, allowed, nodes, name):
    end(story, name, T4, allowed.push("torch", "v1", {"CUDA_VERSION": "12.4"}))
    allowed.push("torch", "v2", {"CUDA_VERSION": "12.4", "TORCH_CUDA_ARCH_LIST": "7.5 9.0"})
    assert check_text(story, f"{allowed.host}/torch:v2") == "The image fits all 3 nodes."


def test_failure_in_one_organization_does_not_warn_another(story, allowed, nodes, name):
    end(story, name, T4, allowed.push("torch", "v1", {"CUDA_VERSION": "12.4"}))
    assert (
        check_text(story, name, story.borealis, story.cyd, story.north)
        == "The image fits all 3 nodes."
    )


def test_repeated_failure_is_stored_once_per_gpu(story, allowed, nodes, name):
    digest = allowed.push("torch", "v1", {"CUDA_VERSION": "12.4"})
    for node in (T4, T4, H200):
        end(story, name, node, digest)
    with platform_scope("test"):
        assert sorted(ImageEnd.objects.values_list("gpu", "job__number")) == [
            ("NVIDIA H200", 3),
            ("Tesla T4", 2),
        ]
    assert check_text(story, name).startswith("The image fits 0 of 3 nodes; 2 have NVIDIA H200")


@pytest.mark.parametrize(
    "case",
    [
        "another reason",
        "no image",
        "a node that nobody knows",
        "nothing known of the image",
        "two kinds of GPU",
    ],
)
def test_uncertain_failure_is_not_stored(story, allowed, nodes, name, case):
    digest = "sha256:" + "ab" * 32
    if case == "another reason":
        end(story, name, T4, digest, Reason.USER_ERROR)
    elif case == "no image":
        end(story, "", T4)
    elif case == "a node that nobody knows":
        end(story, name, "n99", digest)
    elif case == "nothing known of the image":
        end(story, f"{allowed.host}/none:v1", T4)
    else:
        end(story, name, f"{T4},{H200}", digest)
    with platform_scope("test"):
        assert not ImageEnd.objects.exists()
        assert Attempt.objects.get().state == State.FAILED
