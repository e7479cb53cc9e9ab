"""No broker stands behind these tests: a hint that is sent goes nowhere, and the test taps on the shoulder itself."""

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
    """Without it, each committed change would try to reach Celery's broker."""
    wakeups.deliver_by(lambda task: None)
    yield
    wakeups.deliver_by(None)


@pytest.fixture
def site(story: Story, home: Path, tmp_path: Path) -> Iterator[Site]:
    """A portal's cluster on a double of Kubernetes."""
    from tests.jobs.kubernetes_site import connected  # models: only once Django is ready
    from tests.rig.kubernetes_double import Double
    from workspaces.tenancy.scope import platform_scope

    double = Double()
    with platform_scope("test"):
        yield connected(story, double, tmp_path)
    double.close()
