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


def test_hold_updates_user_team_and_organization_meters(story):
    assert _try(_amounts(story, cpu=1500, jobs=1)) is None
    assert _used() == {
        (s, r): n for s in ("user", "team", "org") for r, n in (("cpu", 1500), ("jobs", 1))
    }


def test_settle_releases_amounts(story):
    _try(_amounts(story, gpu=4))
    with platform_scope("test"):
        settle(_amounts(story, gpu=4))
    assert _used() == {}


@pytest.mark.both_databases
@each(("scope", "subject"), [("user", "ben@atlas.example"), ("team", "vision"), ("org", "")])
def test_hold_at_limit_names_full_meter(story, scope, subject):
    _limit(story, scope, subject, "gpu", 8)
    assert _try(_amounts(story, gpu=8)) is None
    refused = _try(_amounts(story, gpu=1))
    assert (refused.scope, refused.resource) == (scope, "gpu")
    assert set(_used().values()) == {8}


def test_hold_refused_holds_nothing(story):
    _limit(story, "org", "", "memory", 10)
    assert _try(_amounts(story, cpu=1000, gpu=2, memory=11, jobs=1)).resource == "memory"
    assert _used() == {}


def test_settle_below_zero_is_rejected(story):
    _try(_amounts(story, gpu=1))
    with pytest.raises(IntegrityError), platform_scope("test"), transaction.atomic():
        settle(_amounts(story, gpu=2))
    assert set(_used().values()) == {1}


def test_limit_below_usage_stops_only_new_holds(story):
    _try(_amounts(story, gpu=4))
    _limit(story, "team", "vision", "gpu", 2)
    assert _try(_amounts(story, gpu=1)).scope == "team"
    with platform_scope("test"):
        settle(_amounts(story, gpu=4))
    assert _try(_amounts(story, gpu=2)) is None


def test_removed_limit_admits_again(story):
    _limit(story, "org", "", "jobs", 0)
    assert _try(_amounts(story, jobs=1))
    _limit(story, "org", "", "jobs", None)
    assert _try(_amounts(story, jobs=1)) is None


def test_meters_are_separate_per_organization(story):
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
def test_set_quota_invalid_limit_is_rejected(story, resource, limit, field):
    with pytest.raises(InvalidInput) as caught:
        _limit(story, "org", "", resource, limit)
    assert caught.value.data["errors"][0]["field"] == field


def test_set_quota_foreign_subject_is_not_found(story):
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


def test_quota_cpu_is_shown_in_cores(story):
    assert _limit(story, "team", "vision", "cpu", 2.5).limit == 2500
    with org_scope(story.atlas.id):
        row = next(q for q in quotas_for(story.actor(story.ada)) if q["resource"] == "cpu")
    assert (row["limit"], row["unit"]) == (2.5, "cores")


def test_quotas_member_sees_only_own_meter(story):
    _limit(story, "user", story.ada.email, "gpu", 1)
    _limit(story, "user", story.ben.email, "gpu", 2)
    with org_scope(story.atlas.id):
        assert [q["subject"] for q in quotas_for(story.actor(story.ben))] == [story.ben.email]
        assert len(quotas_for(story.actor(story.ada))) == 2


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_holds_get_exactly_the_limit(db_threads):
    org = Organization.objects.create(slug="crowd", name="Crowd")
    wanted = meters(org.id, uuid7(), uuid7(), {"gpu": 1})
    with platform_scope("test"):
        Quota.objects.create(org=org, scope="org", subject_id=org.id, resource="gpu", limit=8)
    granted = db_threads(lambda _: _try(wanted) is None, range(100))
    assert granted.count(True) == 8
    assert set(_used().values()) == {8}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_holds_and_settles_end_at_zero(db_threads):
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
