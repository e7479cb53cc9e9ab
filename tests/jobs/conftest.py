"""Fixtures of job tests. There is no broker: hints are dropped and tests call the workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portal.core import wakeups

if TYPE_CHECKING:
    from tests.jobs.kubernetes_site import Site
    from tests.story import Story


@pytest.fixture(autouse=True)
def hints_go_nowhere() -> Iterator[None]:
    """Drop hints, which would otherwise try to reach Celery's broker after each commit."""
    wakeups.set_sender(lambda task: None)
    yield
    wakeups.set_sender(None)


@pytest.fixture
def site(story: Story, home: Path, tmp_path: Path) -> Iterator[Site]:
    """Return a cluster connected to a double of Kubernetes."""
    # Imports models, so only after Django is set up.
    from tests.jobs.kubernetes_site import connected
    from tests.rig.kubernetes_double import Double
    from workspaces.tenancy.scope import platform_scope

    double = Double()
    with platform_scope("test"):
        yield connected(story, double, tmp_path)
    double.close()
