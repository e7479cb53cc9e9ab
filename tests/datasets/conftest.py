"""A dataset of Vision with files that were committed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from datasets import services
from workspaces.tenancy.scope import org_scope


def commit(actor, repository, files, *, message="Add files", **more):
    """Store files (path -> bytes) and commit them."""
    changes = [
        services.Add(
            path, services.put_file(actor=actor, repository=repository, chunks=[data]).sha256
        )
        for path, data in files.items()
    ]
    return services.commit(
        actor=actor, repository=repository, changes=changes, message=message, **more
    )


@pytest.fixture
def stage(story, home):
    """Return Ada (owner of Atlas) and Ben (member of Vision), who has created a dataset."""
    with org_scope(story.atlas.id):
        actor = story.actor
        ben = actor(story.ben)
        cifar = services.create_repository(
            actor=ben, team=story.vision, kind="dataset", name="cifar"
        )
        yield SimpleNamespace(story=story, ada=actor(story.ada), ben=ben, cifar=cifar, actor=actor)
