"""Guarantees of former members end, and their remaining limits can be removed."""

from __future__ import annotations

from django.db import transaction

from portal.core import clock
from portal.core.models import Event
from tests.each import each
from workspaces.identity.provisioning_services import ProviderPerson, sync_people
from workspaces.models import GpuMonth, GroupRule, Provider, Quota
from workspaces.organizations.selectors import quotas_for
from workspaces.organizations.services import remove_member
from workspaces.quotas.gpu_hours import month_of
from workspaces.quotas.limits import meters
from workspaces.quotas.reservations import hold
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope


def guarantee(story, email, amount):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[
                LimitChange("org", "", "gpu", 8),
                LimitChange("team", "vision", "gpu", None, 1),
                LimitChange("user", email, "gpu", 6, amount),
            ],
        )


def standings():
    with platform_scope("test"):
        rows = Quota.objects.filter(resource="gpu").values_list(
            "scope", "limit", "guaranteed", "promised"
        )
        return {scope: tuple(more) for scope, *more in rows}


@each("used", [0, 1, 5])
def test_removed_member_guarantee_ends_and_is_recorded(story, used):
    guarantee(story, story.ben.email, 3)
    if used:
        with platform_scope("test"), transaction.atomic():
            assert (
                hold(meters(story.atlas.id, story.speech.id, story.ben.id, {"gpu": used})) is None
            )
    with org_scope(story.atlas.id):
        remove_member(actor=story.actor(story.ada), org=story.atlas, email=story.ben.email)
    found = standings()
    assert (found["user"], found["org"][2]) == ((6, 0, 0), 1)
    fact = Event.objects.filter(kind="quota.changed").order_by("position").last()
    named = "gpu of user ben@atlas.example"
    assert (fact.actor, fact.data["before"]) == (
        "ada@atlas.example",
        {named: {"limit": 6, "guaranteed": 3}},
    )
    assert fact.data["after"] == {named: {"limit": 6, "guaranteed": 0}}


def test_suspended_by_directory_guarantee_ends(story):
    provider = Provider.objects.create(
        kind="ldap", slug="corp", name="Corp", org=story.atlas, domains=["corp.example"]
    )
    GroupRule.objects.create(
        provider=provider, position=1, group="*", org=story.atlas, role="member"
    )
    people = [
        ProviderPerson(f"uuid-{n}", f"p{n}@corp.example", f"Person {n}", f"p{n}", frozenset())
        for n in range(3)
    ]
    with no_scope():
        sync_people(provider, people)
    guarantee(story, "p0@corp.example", 3)
    with no_scope():
        assert sync_people(provider, people[1:]).is_done
    assert (standings()["user"], standings()["org"][2]) == ((6, 0, 0), 1)
    assert (
        Event.objects.filter(kind="quota.changed").order_by("position").last().actor
        == "directory corp"
    )


def test_former_member_quota_can_be_removed(story):
    guarantee(story, story.ben.email, 3)
    with org_scope(story.atlas.id):
        remove_member(actor=story.actor(story.ada), org=story.atlas, email=story.ben.email)
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange("user", story.ben.email, "gpu", None)],
        )
    assert standings()["user"] == (None, 0, 0)


def test_former_member_gpu_hours_are_shown_with_address(story):
    with org_scope(story.atlas.id):
        GpuMonth.objects.create(
            org=story.atlas,
            scope="user",
            subject_id=story.ben.id,
            month=month_of(clock.now()),
            used=7_200_000,
        )
        remove_member(actor=story.actor(story.ada), org=story.atlas, email=story.ben.email)
        rows = [
            (q["subject"], q["used"])
            for q in quotas_for(story.actor(story.ada))
            if q["scope"] == "user"
        ]
    assert rows == [("ben@atlas.example", 2)]
