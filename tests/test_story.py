"""The story is told the way the other tests rely on."""

from __future__ import annotations

import pytest

from portal.core.errors import NotFound
from workspaces.permissions import Permission


def test_each_may_do_what_the_story_says(story):
    assert story.actor(story.ada).may(Permission.ORG_ADMIN)
    assert story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.vision.id)
    assert not story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.speech.id)
    assert not story.actor(story.ben).may(Permission.ORG_ADMIN)
    assert story.actor(story.dot).is_operator


def test_cyd_does_not_learn_that_atlas_exists(story):
    with pytest.raises(NotFound):
        story.actor(story.cyd, story.atlas)


def test_a_token_of_the_story_is_its_owners(story):
    assert story.token(story.ben).startswith("mst_")
