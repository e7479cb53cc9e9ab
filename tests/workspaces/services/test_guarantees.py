"""Guarantees are kept free in any order of holds and releases."""

from __future__ import annotations

import threading
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.core.errors import InvalidInput, NotFound
from portal.core.models import Event
from tests.story import create_story
from workspaces.models import Quota
from workspaces.organizations.services import create_team
from workspaces.quotas.limits import Meter, QuotaUsage, first_full_meter, meters, meters_after
from workspaces.quotas.reservations import hold, settle
from workspaces.quotas.set_limits import LimitChange, set_quota, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope

ORG, TEAMS, USERS = (
    UUID(int=1),
    [UUID(int=n) for n in (11, 12, 13)],
    [UUID(int=n) for n in (21, 22)],
)


@st.composite
def standings(draw):
    """Draw an organization with guarantees that fit into its limit."""
    whole = draw(st.integers(0, 20))
    subjects = [("team", team) for team in TEAMS] + [("user", user) for user in USERS]
    left, found = whole, {}
    for scope, subject in subjects:
        guaranteed = draw(st.integers(0, left))
        left -= guaranteed
        limit = draw(st.one_of(st.none(), st.integers(guaranteed, 25)))
        found[Meter(ORG, scope, subject, "gpu")] = QuotaUsage(0, limit, guaranteed)
    promised = sum(s.guaranteed for s in found.values())
    return found | {Meter(ORG, "org", ORG, "gpu"): QuotaUsage(0, whole, 0, promised)}


STEPS = st.lists(
    st.tuples(st.sampled_from(TEAMS), st.sampled_from(USERS), st.integers(1, 6), st.booleans()),
    max_size=40,
)


@settings(deadline=None)
@given(standings(), STEPS)
def test_limits_random_holds_respect_limits_and_guarantees(now, steps):
    whole, held = Meter(ORG, "org", ORG, "gpu"), []
    for team, user, amount, gives_back in steps:
        if gives_back and held:
            now = now | meters_after(now, {meter: -n for meter, n in held.pop().items()})
        request = meters(ORG, team, user, {"gpu": amount})
        if first_full_meter(now, request) is None:
            now = now | meters_after(now, request)
            held.append(request)
        for meter, standing in now.items():
            assert standing.used == sum(request.get(meter, 0) for request in held)
            assert standing.limit is None or standing.used <= standing.limit
        assert now[whole].promised == sum(s.idle for meter, s in now.items() if meter != whole)
    for meter, standing in now.items():
        if meter.scope == "team" and standing.idle:
            assert now[whole].used + standing.idle <= now[whole].limit


@settings(deadline=None)
@given(standings(), STEPS, st.sampled_from(TEAMS), st.sampled_from(USERS))
def test_limits_smaller_amount_is_also_allowed(now, steps, team, user):
    for of, by, amount, _ in steps:
        request = meters(ORG, of, by, {"gpu": amount})
        if first_full_meter(now, request) is None:
            now = now | meters_after(now, request)
    room = [
        first_full_meter(now, meters(ORG, team, user, {"gpu": amount})) is None
        for amount in range(1, 26)
    ]
    assert room == sorted(room, reverse=True)


def _set(story, *changes):
    with org_scope(story.atlas.id):
        return set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(*change) for change in changes],
        )


def _try(story, team, user, **resources):
    with platform_scope("test"), transaction.atomic():
        return hold(meters(story.atlas.id, team.id, user.id, resources))


@pytest.fixture
def language(story):
    with org_scope(story.atlas.id):
        return create_team(actor=story.actor(story.ada), org=story.atlas, slug="language")


def test_guarantee_of_team_is_kept_free(story, language):
    _set(story, ("org", "", "gpu", 8), ("team", "vision", "gpu", None, 3))
    refused = _try(story, language, story.ada, gpu=6)
    assert (refused.scope, refused.resource) == ("org", "gpu")
    assert _try(story, language, story.ada, gpu=5) is None
    assert _try(story, story.vision, story.ben, gpu=3) is None


@pytest.mark.both_databases
def test_guarantee_on_busy_organization_is_served_from_free_part(story, language):
    _set(story, ("org", "", "gpu", 8))
    assert _try(story, language, story.ada, gpu=6) is None
    _set(story, ("team", "vision", "gpu", None, 4))
    assert _try(story, language, story.ada, gpu=1).scope == "org"
    assert _try(story, story.vision, story.ben, gpu=2) is None
    assert _try(story, story.vision, story.ben, gpu=1).scope == "org"
    with platform_scope("test"):
        settle(meters(story.atlas.id, language.id, story.ada.id, {"gpu": 6}))
    assert _try(story, language, story.ada, gpu=5).scope == "org"
    assert _try(story, language, story.ada, gpu=4) is None
    assert _try(story, story.vision, story.ben, gpu=2) is None


def test_guarantees_above_organization_limit_are_rejected(story, language):
    with pytest.raises(InvalidInput, match="9 gpu would be guaranteed in total"):
        _set(
            story,
            ("org", "", "gpu", 8),
            ("team", "vision", "gpu", None, 5),
            ("team", "language", "gpu", None, 4),
        )
    _set(story, ("org", "", "gpu", 8), ("team", "vision", "gpu", None, 5))
    for refused in (
        ("team", "language", "gpu", None, 4),
        ("org", "", "gpu", 4),
        ("team", "vision", "gpu", 4),
        ("org", "", "gpu", 8, 1),
    ):
        with pytest.raises(InvalidInput):
            _set(story, refused)


def test_set_quotas_is_atomic(story):
    with pytest.raises(NotFound):
        _set(story, ("team", "vision", "gpu", 4), ("team", "nobody", "gpu", 4))
    with pytest.raises(InvalidInput, match="twice"):
        _set(story, ("team", "vision", "gpu", 4), ("team", "vision", "gpu", 5))
    with org_scope(story.atlas.id):
        assert not Quota.objects.exclude(limit=None).exists()


def test_set_quotas_records_one_event_with_before_and_after(story):
    _set(story, ("team", "vision", "gpu", 4))
    _set(story, ("team", "vision", "gpu", 6, 2), ("org", "", "cpu", 2.5))
    fact = Event.objects.filter(kind="quota.changed").order_by("-id").first()
    assert fact.data["before"] == {
        "gpu of team vision": {"limit": 4, "guaranteed": 0},
        "cpu of org": {"limit": None, "guaranteed": 0},
    }
    assert fact.data["after"] == {
        "gpu of team vision": {"limit": 6, "guaranteed": 2},
        "cpu of org": {"limit": 2500, "guaranteed": 0},
    }


def test_set_quotas_omitted_values_are_kept(story):
    _set(story, ("team", "vision", "gpu", 6, 2))
    with org_scope(story.atlas.id):
        row = set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="gpu",
            limit=8,
        )
    assert (row.limit, row.guaranteed) == (8, 2)


@pytest.mark.both_databases
def test_hold_takes_two_queries(story):
    everything = {"gpu": 1, "gpu.h100": 1, "cpu": 1000, "memory": 1 << 30, "jobs": 1}
    _try(story, story.vision, story.ben, **everything)
    with CaptureQueriesContext(connection) as queries:
        _try(story, story.vision, story.ben, **everything)
    on_meters = [
        query["sql"]
        for query in queries
        if "workspaces_quota" in query["sql"] and "INSERT" not in query["sql"]
    ]
    assert [sql.removeprefix("15 times: ")[:6] for sql in on_meters] == ["SELECT", "UPDATE"]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_holds_respect_limit_and_guarantees(
    transactional_db,
):
    story, over = create_story(), []
    with org_scope(story.atlas.id):
        teams = [
            story.vision,
            *(
                create_team(actor=story.actor(story.ada), org=story.atlas, slug=slug)
                for slug in ("language", "audio")
            ),
        ]
    _set(
        story,
        ("org", "", "gpu", 10),
        ("team", "vision", "gpu", None, 4),
        ("team", "language", "gpu", None, 2),
    )

    def race(team):
        for turn in range(25):
            request = meters(story.atlas.id, team.id, story.ada.id, {"gpu": 1 + turn % 3})
            with platform_scope("race"):
                if hold(request) is not None:
                    continue
                row = Quota.objects.get(scope="org", resource="gpu")
                if row.used > row.limit or row.used + row.promised > row.limit:
                    over.append((row.used, row.promised))
                settle(request)
        connections.close_all()

    threads = [threading.Thread(target=race, args=(team,)) for team in teams for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with platform_scope("test"):
        row = Quota.objects.get(scope="org", resource="gpu")
        assert (over, row.used, row.promised) == ([], 0, 6)
