from __future__ import annotations

import pytest

from tests.jobs.stage import cluster_with, submit
from tests.rig.receiver import mailbox, receiver


@pytest.fixture
def post(settings):
    """Return a mail server that keeps mails."""
    with mailbox(settings) as box:
        yield box


@pytest.fixture
def hook(settings):
    """Return a receiver of webhooks that the operator has allowed."""
    with receiver() as made:
        settings.MUSTER_WEBHOOK_HOSTS = [made.host]
        yield made


@pytest.fixture
def failed(story):
    """Return a function that lets a job of a person fail."""
    cluster_with(gpus=4)
    return lambda person=story.ben: fail(submit(story, person=person))


def fail(job):
    from jobs.dispatch.lifecycle import StateChange, transition
    from jobs.models import Attempt, Job
    from schedulers.states import Reason, State
    from workspaces.tenancy.scope import platform_scope

    with platform_scope("test"):
        attempt = Attempt.objects.get(job=job)
        transition([StateChange(attempt.id, State.FAILED, "test", Reason.USER_ERROR, "exit 3")])
        return Job.objects.get(id=job.id)
