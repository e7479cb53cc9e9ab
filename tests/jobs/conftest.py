"""No broker stands behind these tests: a hint that is sent goes nowhere, and the test taps on the shoulder itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from portal.core import hints


@pytest.fixture(autouse=True)
def hints_go_nowhere() -> Iterator[None]:
    """Without it, each committed change would try to reach Celery's broker."""
    hints.deliver_by(lambda task: None)
    yield
    hints.deliver_by(None)
