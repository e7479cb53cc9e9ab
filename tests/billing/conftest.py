from __future__ import annotations

import pytest

from billing.services import budgets
from tests.jobs.stage import cluster_with


@pytest.fixture
def cluster(story):
    return cluster_with(gpus=8, nodes=2)


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


@pytest.fixture(autouse=True)
def no_kept_stops():
    budgets._forget_stops()
    yield
    budgets._forget_stops()
