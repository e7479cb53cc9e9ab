"""Browsers shared by a module, because its tables have hundreds of rows."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.http.table import browser
from tests.story import Story


@pytest.fixture(scope="module")
def browsers(shared_story: Story) -> dict[str, Client]:
    """Return clients of nobody, a stranger (Cyd), a member (Ben) and an operator (Dot)."""
    return {
        "nobody": browser(),
        "cyd": browser(shared_story.cyd),
        "ben": browser(shared_story.ben),
        "dot": browser(shared_story.dot),
    }
