"""One story for a whole module: its tables have hundreds of rows, and telling it anew for each would take minutes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client

from tests.doors.table import browser
from tests.story import Story


@pytest.fixture(scope="module")
def told(django_db_setup, django_db_blocker) -> Iterator[Story]:
    """Everybody of the story, for all tests of the module; undone at its end."""
    from tests.story import tell

    with django_db_blocker.unblock(), transaction.atomic():
        yield tell()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def browsers(told: Story) -> dict[str, Client]:
    """Nobody, a stranger (Cyd), a member (Ben), an operator (Dot)."""
    return {"nobody": browser(), "cyd": browser(told.cyd), "ben": browser(told.ben), "dot": browser(told.dot)}


@pytest.fixture
def undone(told: Story) -> Iterator[None]:
    """What a test changes is as it was for the next."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
