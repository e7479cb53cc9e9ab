"""Browsers shared by a module, because its tables have hundreds of rows."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.doors.table import browser
from tests.story import Story


@pytest.fixture(scope="module")
def browsers(told: Story) -> dict[str, Client]:
    """Return clients of nobody, a stranger (Cyd), a member (Ben) and an operator (Dot)."""
    return {
        "nobody": browser(),
        "cyd": browser(told.cyd),
        "ben": browser(told.ben),
        "dot": browser(told.dot),
    }
