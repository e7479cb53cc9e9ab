"""Holding and giving back: no two admissions take the same last GPU."""

from __future__ import annotations

import threading

import pytest
from django.db import connections, transaction

from portal.core.errors import Conflict, InvalidInput, NotPermitted
from tests.each import each
from workspaces.models import Quota
from workspaces.services import change_member, create_team, remove_member, set_quota
from workspaces.services.quota import hold, meters, settle
from workspaces.tenancy.scope import org_scope, platform_scope


def test_a_hold_moves_the_persons_the_teams_and_the_organizations_meter(story):
    with platform_scope("test"), transaction.atomic():
        assert hold(meters(story.atlas.id, story.vision.id, story.ada.id, {"cpu": 2000, "jobs": 1})) is None
        assert sorted(Quota.objects.values_list("scope", "resource", "used")) == [
            (scope, resource, used) for scope in ("org", "team", "user") for resource, used in (("cpu", 2000), ("jobs", 1))]
        settle(meters(story.atlas.id, story.vision.id, story.ada.id, {"cpu": 2000, "jobs": 1}))
        assert set(Quota.objects.values_list("used", flat=True)) == {0}


@pytest.mark.django_db(transaction=True)
def test_of_a_hundred_who_race_for_eight_exactly_eight_get_one(transactional_db):
    from tests.story import tell

    story, got = tell(), []
    ask = meters(story.atlas.id, story.vision.id, story.ada.id, {"gpu": 1})
    with org_scope(story.atlas.id):
        set_quota(actor=story.actor(story.ada), org=story.atlas, scope="team", subject="vision", resource="gpu", limit=8)

    def race():
        for _ in range(10):
            with platform_scope("test"), transaction.atomic():
                if hold(ask) is None:
                    got.append(1)
                else:
                    transaction.set_rollback(True)
        connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with platform_scope("test"):
        assert len(got) == Quota.objects.get(scope="team", resource="gpu").used == 8


@each(("resource", "limit"), [("disk", 1), ("gpu.", -1), ("cpu", -1), ("cpu", float("nan")), ("memory", 1e300), ("cpu.fast", 1)])
def test_a_limit_that_cannot_be_is_refused(story, resource, limit):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput):
        set_quota(actor=story.actor(story.ada), org=story.atlas, scope="org", subject="", resource=resource, limit=limit)


def test_members_do_not_set_limits(story):
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        set_quota(actor=story.actor(story.ben), org=story.atlas, scope="org", subject="", resource="cpu", limit=1)


def test_an_organization_keeps_an_owner(story):
    ada = story.actor(story.ada)
    with org_scope(story.atlas.id):
        for leave in (lambda: change_member(actor=ada, org=story.atlas, email=ada.email, role="member"),
                      lambda: remove_member(actor=ada, org=story.atlas, email=ada.email)):
            with pytest.raises(Conflict):
                leave()


@each("slug", ["", "A", "a", "-a", "a-", "a_b", "a" * 41, "a b", "../x", "é1"])
def test_a_short_name_that_no_address_can_carry_is_refused(story, slug):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput):
        create_team(actor=story.actor(story.ada), org=story.atlas, slug=slug)
