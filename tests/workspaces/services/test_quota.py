"""Holding and settling: nothing counts twice, and no limit is exceeded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from portal.core.errors import InvalidInput, NotFound, NotPermitted
from portal.core.ids import uuid7
from tests.each import each
from workspaces.models import Organization, Quota
from workspaces.organizations.selectors import quotas_for
from workspaces.quotas.reservations import Meter, hold, meters, settle
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope, platform_scope


def _limit(story, scope, subject, resource, limit):
    with org_scope(story.atlas.id):
        return set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope=scope,
            subject=subject,
            resource=resource,
            limit=limit,
        )


def _amounts(story, **resources):
    return meters(story.atlas.id, story.vision.id, story.ben.id, resources)


def _used():
    with platform_scope("test"):
        return {(q.scope, q.resource): q.used for q in Quota.objects.all() if q.used}


def _try(amounts) -> Meter | None:
    """Hold all or nothing, as `jobs.dispatch.claims` does."""
    with platform_scope("test"), transaction.atomic():
        savepoint = transaction.savepoint()
        refused = hold(amounts)
        if refused:
            transaction.savepoint_rollback(savepoint)
        return refused


def test_a_hold_moves_the_meters_of_the_person_the_team_and_the_organization(story):
    assert _try(_amounts(story, cpu=1500, jobs=1)) is None
    assert _used() == {
        (s, r): n for s in ("user", "team", "org") for r, n in (("cpu", 1500), ("jobs", 1))
    }


def test_what_is_settled_is_free_again(story):
    _try(_amounts(story, gpu=4))
    with platform_scope("test"):
        settle(_amounts(story, gpu=4))
    assert _used() == {}


@pytest.mark.both_databases
@each(("scope", "subject"), [("user", "ben@atlas.example"), ("team", "vision"), ("org", "")])
def test_the_last_unit_is_given_and_the_one_after_refused_by_the_meter_that_is_full(
    story, scope, subject
):
    _limit(story, scope, subject, "gpu", 8)
    assert _try(_amounts(story, gpu=8)) is None
    refused = _try(_amounts(story, gpu=1))
    assert (refused.scope, refused.resource) == (scope, "gpu")
    assert set(_used().values()) == {8}


def test_a_refused_hold_leaves_no_part_of_it_behind(story):
    _limit(story, "org", "", "memory", 10)
    assert _try(_amounts(story, cpu=1000, gpu=2, memory=11, jobs=1)).resource == "memory"
    assert _used() == {}


def test_a_meter_cannot_be_settled_below_zero(story):
    _try(_amounts(story, gpu=1))
    with pytest.raises(IntegrityError), platform_scope("test"), transaction.atomic():
        settle(_amounts(story, gpu=2))
    assert set(_used().values()) == {1}


def test_a_limit_below_what_is_held_stops_nothing_and_admits_nothing(story):
    _try(_amounts(story, gpu=4))
    _limit(story, "team", "vision", "gpu", 2)
    assert _try(_amounts(story, gpu=1)).scope == "team"
    with platform_scope("test"):
        settle(_amounts(story, gpu=4))
    assert _try(_amounts(story, gpu=2)) is None


def test_a_lifted_limit_admits_again(story):
    _limit(story, "org", "", "jobs", 0)
    assert _try(_amounts(story, jobs=1))
    _limit(story, "org", "", "jobs", None)
    assert _try(_amounts(story, jobs=1)) is None


def test_the_same_subject_in_another_organization_has_a_meter_of_its_own(story):
    _limit(story, "user", "ben@atlas.example", "gpu", 1)
    elsewhere = meters(story.borealis.id, story.north.id, story.ben.id, {"gpu": 3})
    assert _try(elsewhere) is None
    assert _try(_amounts(story, gpu=1)) is None


@each(
    ("resource", "limit", "field"),
    [
        ("gold", 1, "resource"),
        ("cpu.x", 1, "resource"),
        ("", 1, "resource"),
        ("gpu." + "x" * 40, 1, "resource"),
        ("gpu.\x00", 1, "resource"),
        ("cpu", -1, "limit"),
        ("cpu", float("nan"), "limit"),
        ("memory", float("inf"), "limit"),
        ("memory", 2**60, "limit"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_by_field(story, resource, limit, field):
    with pytest.raises(InvalidInput) as caught:
        _limit(story, "org", "", resource, limit)
    assert caught.value.data["errors"][0]["field"] == field


def test_limits_are_for_subjects_of_the_organization_only(story):
    for scope, subject in (("team", "north"), ("user", story.cyd.email)):
        with pytest.raises(NotFound):
            _limit(story, scope, subject, "gpu", 1)
    with pytest.raises(NotPermitted), org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ben),
            org=story.atlas,
            scope="org",
            subject="",
            resource="gpu",
            limit=1,
        )


def test_people_read_cores_where_thousandths_are_stored(story):
    assert _limit(story, "team", "vision", "cpu", 2.5).limit == 2500
    with org_scope(story.atlas.id):
        row = next(q for q in quotas_for(story.actor(story.ada)) if q["resource"] == "cpu")
    assert (row["limit"], row["unit"]) == (2.5, "cores")


def test_one_sees_ones_own_meter_and_not_those_of_others(story):
    _limit(story, "user", story.ada.email, "gpu", 1)
    _limit(story, "user", story.ben.email, "gpu", 2)
    with org_scope(story.atlas.id):
        assert [q["subject"] for q in quotas_for(story.actor(story.ben))] == [story.ben.email]
        assert len(quotas_for(story.actor(story.ada))) == 2


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_a_hundred_at_once_get_exactly_the_eight_that_there_are(db_threads):
    org = Organization.objects.create(slug="crowd", name="Crowd")
    wanted = meters(org.id, uuid7(), uuid7(), {"gpu": 1})
    with platform_scope("test"):
        Quota.objects.create(org=org, scope="org", subject_id=org.id, resource="gpu", limit=8)
    granted = db_threads(lambda _: _try(wanted) is None, range(100))
    assert granted.count(True) == 8
    assert set(_used().values()) == {8}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_holds_and_settles_at_once_end_where_they_began(db_threads):
    org = Organization.objects.create(slug="crowd", name="Crowd")
    users = [uuid7() for _ in range(4)]

    def there_and_back(turn: int) -> bool:
        mine = meters(org.id, org.id, users[turn % 4], {"gpu": 1, "cpu": 500})
        held = _try(mine) is None
        with platform_scope("test"):
            settle(mine)
        return held

    assert all(db_threads(there_and_back, range(60)))
    assert _used() == {}


@pytest.fixture
def db_threads():
    """Call a function for each value in 20 threads with their own connections."""

    def run(call, values):
        def once(value):
            try:
                return call(value)
            finally:
                connection.close()

        with ThreadPoolExecutor(20) as pool:
            return list(pool.map(once, values))

    return run
