"""A version that is deleted while a job pins it: one of them waits, and nothing fails in between."""

from __future__ import annotations

import threading

import pytest

from datasets import services as data
from datasets.models import Version
from datasets.services import retention
from jobs.models import JobInput
from jobs.services import submit as submitting
from portal.core.errors import InvalidInput
from tests.datasets.conftest import commit
from tests.jobs.stage import cluster_with, submit
from tests.jobs.test_lock_order import _thread
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("home", "transactional_db"),
]


@pytest.fixture
def stage():
    """Return the story and a dataset whose rule keeps the second one of two versions."""
    from tests.story import create_story

    story = create_story()
    cluster_with()
    with org_scope(story.atlas.id):
        ben = story.actor(story.ben)
        cifar = data.create_repository(actor=ben, team=story.vision, kind="dataset", name="cifar")
        for text in (b"one", b"two"):
            commit(ben, cifar, {"a": text})
        cifar.keep_last = 1
        cifar.save()
    with platform_scope("test"):
        yield story, cifar


def test_retention_waits_for_a_job_that_pins_a_version(stage, monkeypatch):
    story, cifar = stage
    pinned, go_on, write = threading.Event(), threading.Event(), submitting._write

    def slowly(*given):
        pinned.set()
        go_on.wait(20)
        return write(*given)

    monkeypatch.setattr(submitting, "_write", slowly)
    person = _thread(lambda: submit(story, inputs={"data": "cifar@1"}))
    person.start()
    assert pinned.wait(20)
    keeper = _thread(lambda: retention.apply_rules(cifar))
    keeper.start()
    keeper.join(0.5)
    assert keeper.is_alive()
    go_on.set()
    person.join(30)
    keeper.join(30)
    assert (person.failed, keeper.failed) == (None, None)
    assert JobInput.objects.get().version.number == 1
    assert Version.objects.filter(repository=cifar).count() == 2


def test_job_is_refused_whose_version_is_being_deleted(stage, monkeypatch):
    story, cifar = stage
    keep = submitting.inputs.keep_inputs

    def late(inputs):
        keeper = _thread(lambda: retention.apply_rules(cifar))
        keeper.start()
        keeper.join(30)
        assert keeper.failed is None
        keep(inputs)

    monkeypatch.setattr(submitting.inputs, "keep_inputs", late)
    with pytest.raises(InvalidInput, match="cifar@1 was deleted in the meantime"):
        submit(story, inputs={"data": "cifar@1"})
    assert Version.objects.get(repository=cifar).number == 2
