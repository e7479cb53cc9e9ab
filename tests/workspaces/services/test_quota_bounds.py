"""Extreme limits and guarantees are rejected, never truncated."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from jobs.web.quotas import changes_in
from portal.core.errors import InvalidInput
from tests.each import each
from workspaces.models import Quota
from workspaces.quotas.set_limits import MAX_RESOURCES, LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope


def form(**fields: str) -> QueryDict:
    return QueryDict(urlencode(fields))


def put(story, *changes):
    with org_scope(story.atlas.id):
        return set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(*change) for change in changes],
        )


def test_guarantees_overflowing_in_total_are_rejected(story):
    most = 2**53 - 1
    put(story, ("team", "vision", "cpu", None, most))
    with pytest.raises(InvalidInput, match="exceed the countable maximum"):
        put(story, ("team", "speech", "cpu", None, most))
    with org_scope(story.atlas.id):
        assert Quota.objects.get(scope="org", resource="cpu").promised == most * 1000


def test_set_quotas_too_many_resources_is_rejected(story):
    some = [("team", "vision", f"gpu.t{n}", n) for n in range(MAX_RESOURCES + 1)]
    with pytest.raises(InvalidInput, match=f"{MAX_RESOURCES} resources"):
        put(story, *some)
    assert len(put(story, *some[1:])) == MAX_RESOURCES


@each(
    ("resource", "amount"),
    [("gpu", 0.5), ("gpu.h100", 1.5), ("jobs", 0.1), ("memory", 0.5), ("cpu", 0.0005)],
)
@each("field", ["limit", "guaranteed"])
def test_limit_fraction_of_whole_unit_is_rejected(story, resource, amount, field):
    with pytest.raises(InvalidInput) as refused:
        put(
            story,
            ("team", "vision", resource, *((amount,) if field == "limit" else (None, amount))),
        )
    assert refused.value.data["errors"][0]["field"] == field


@each(
    ("resource", "text", "stored"),
    [("cpu", "0.125", 125), ("memory", "0.3Gi", 322122547), ("gpu", "2", 2), ("cpu", "0.001", 1)],
)
def test_limit_millicores_and_size_units_are_accepted(story, resource, text, stored):
    change = changes_in(form(who="team:vision", resource=resource, limit=text, guaranteed=""))
    with org_scope(story.atlas.id):
        [row] = set_quotas(actor=story.actor(story.ada), org=story.atlas, changes=change)
    assert row.limit == stored


@each("text", ["infGi", "nanGi", "1e400Gi"])
def test_limit_invalid_size_is_rejected(text):
    with pytest.raises(InvalidInput):
        changes_in(form(who="team:vision", resource="memory", limit=text, guaranteed=""))
