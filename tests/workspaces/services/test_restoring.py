"""Suspensions by a directory outlive its removal unless restoring was chosen."""

from __future__ import annotations

import pytest

from portal.core import clock
from portal.core.models import Event
from tests.each import each
from workspaces.identity.provisioning_services import ProviderPerson, sync_people
from workspaces.identity.reinstatement import suspended_addresses
from workspaces.models import GroupRule, Identity, Membership, Provider, User
from workspaces.tenancy.scope import no_scope, platform_scope


@pytest.fixture(params=["atlas", None], ids=["an organization's own", "of the installation"])
def corp(story, request) -> Provider:
    """A directory that listed nine users and no longer lists p0."""
    org = story.atlas if request.param else None
    row = Provider.objects.create(
        kind="ldap", slug="corp", name="Corp", org=org, domains=["corp.example"]
    )
    GroupRule.objects.create(provider=row, position=1, group="*", org=story.atlas, role="member")
    with no_scope():
        people = [ProviderPerson(f"u{n}", f"p{n}@corp.example") for n in range(9)]
        sync_people(row, people)
        assert sync_people(row, people[1:]).is_done
    return row


def may_come(email: str) -> bool:
    with platform_scope("test"):
        return Membership.objects.filter(
            user__email=email, suspended_at=None, user__is_active=True
        ).exists()


def remove(story, corp, **more) -> None:
    client = story.client(story.dot if corp.org is None else story.ada)
    page = client.get("/atlas/directories/corp").content.decode()
    assert (
        "p0@corp.example" in page and "p1@corp.example" not in page and 'name="bring_back"' in page
    )
    client.post("/atlas/directories/corp/act", {"do": "remove", **more})
    assert not Provider.objects.filter(slug="corp").exists()


def test_remove_provider_keeps_suspensions_and_roles(story, corp):
    assert suspended_addresses(corp) == ["p0@corp.example"] and not may_come("p0@corp.example")
    remove(story, corp)
    assert not may_come("p0@corp.example") and may_come("p1@corp.example")


def test_remove_provider_with_restore_reinstates_and_records(story, corp):
    remove(story, corp, bring_back="1")
    assert may_come("p0@corp.example")
    event = Event.objects.get(kind="member.restored" if corp.org else "person.switched_on")
    assert (
        event.actor == (story.ada if corp.org else story.dot).email
        and event.data["provider"] == "corp"
    )


def test_remove_provider_keeps_operator_suspension(story, corp):
    User.objects.filter(email="p0@corp.example").update(is_active=False, suspended_at=clock.now())
    with platform_scope("test"):
        Membership.objects.filter(user__email="p0@corp.example").update(suspended_at=clock.now())
    remove(story, corp, bring_back="1")
    assert not may_come("p0@corp.example")


@pytest.fixture
def two(story) -> list[Provider]:
    """Two directories of the installation that both listed nine users."""
    made = []
    for slug in ("first", "second"):
        row = Provider.objects.create(kind="ldap", slug=slug, name=slug, domains=["corp.example"])
        GroupRule.objects.create(
            provider=row, position=1, group="*", org=story.atlas, role="member"
        )
        made.append(row)
    with no_scope():
        sync_people(made[0], PEOPLE)
        users = {user.email: user for user in User.objects.filter(email__endswith="@corp.example")}
        sync_people(
            made[1], PEOPLE, links={person.subject: users[person.email].id for person in PEOPLE}
        )
    assert Identity.objects.filter(user__email="p0@corp.example").count() == 2
    return made


PEOPLE = [ProviderPerson(f"u{n}", f"p{n}@corp.example") for n in range(9)]


@each("order", [(0, 1), (1, 0)])
def test_user_missing_in_two_directories_returns_once_both_list_them(story, two, order):
    first, second = (two[n] for n in order)
    with no_scope():
        sync_people(first, PEOPLE[1:])
        sync_people(second, PEOPLE[1:])
        assert not may_come("p0@corp.example")
        sync_people(first, PEOPLE)
        assert not may_come("p0@corp.example") and not sync_people(first, PEOPLE).plan.identities
        sync_people(second, PEOPLE)
    assert (
        may_come("p0@corp.example") and Event.objects.filter(kind="person.switched_on").count() == 1
    )


@each("order", [(0, 1), (1, 0)])
def test_remove_one_of_two_providers_keeps_user_disabled(story, two, order):
    first, second = (two[n] for n in order)
    with no_scope():
        sync_people(first, PEOPLE[1:])
        sync_people(second, PEOPLE[1:])
        client = story.client(story.dot)
        client.post(f"/atlas/directories/{first.slug}/act", {"do": "remove", "bring_back": "1"})
        assert not may_come("p0@corp.example") and not Provider.objects.filter(id=first.id).exists()
        assert suspended_addresses(second) == ["p0@corp.example"]
        client.post(f"/atlas/directories/{second.slug}/act", {"do": "remove", "bring_back": "1"})
    with platform_scope("test"):
        assert User.objects.get(email="p0@corp.example").is_active


def test_user_disabled_by_hand_stays_disabled_on_return(story, two):
    User.objects.filter(email="p0@corp.example").update(is_active=False)
    with no_scope():
        for row in two:
            sync_people(row, PEOPLE[1:])
        for row in two:
            sync_people(row, PEOPLE)
    assert not may_come("p0@corp.example")
