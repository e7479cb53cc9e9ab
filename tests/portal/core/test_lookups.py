"""The lookup `among` finds rows by many ids."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection

from workspaces.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_among_lookup_matches_in_lookup(story):
    ids = [story.ada.id, story.ben.id]
    for wanted in ([], [uuid4()], ids, [*ids, uuid4()], [str(ids[0])], ids * 2):
        assert set(User.objects.filter(id__among=wanted)) == set(User.objects.filter(id__in=wanted))
    assert set(User.objects.exclude(id__among=ids)) == set(User.objects.exclude(id__in=ids))


def test_among_lookup_uses_one_parameter_on_postgresql(story, django_assert_num_queries):
    with django_assert_num_queries(1) as queries:
        list(User.objects.filter(id__among=[uuid4() for _ in range(300)]))
    assert ("= ANY(" in queries[0]["sql"]) is (connection.vendor == "postgresql")
