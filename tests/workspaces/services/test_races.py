"""Concurrent changes: one wins, the other gets a clear error, and an owner remains."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connections

from portal.core import wakeups
from portal.core.errors import Conflict, NotFound, PortalError
from tests.story import Story, create_story
from workspaces.access.actors import actor_of
from workspaces.models import Membership, Organization, Team
from workspaces.organizations import services as organization_services
from workspaces.quotas import set_limits
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def atlas() -> Iterator[Story]:
    wakeups.set_sender(lambda task: None)
    yield create_story()
    wakeups.set_sender(None)


def at_once(story: Story, *acts: Callable[[], object]) -> list[BaseException | None]:
    """Run functions in threads that start together and return what each raised."""
    gate, raised = threading.Barrier(len(acts)), [None] * len(acts)

    def run(at: int) -> None:
        gate.wait(10)
        try:
            with org_scope(story.atlas.id):
                acts[at]()
        except BaseException as error:
            raised[at] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return raised


def test_concurrent_team_creation_one_wins(atlas):
    ada = atlas.actor(atlas.ada)
    raised = at_once(
        atlas,
        *[lambda: organization_services.create_team(actor=ada, org=atlas.atlas, slug="fresh")] * 6,
    )
    assert [type(error) for error in raised if error] == [Conflict] * 5
    with org_scope(atlas.atlas.id):
        assert Team.objects.filter(slug="fresh").count() == 1


def test_concurrent_org_creation_one_wins(atlas):
    dot = actor_of(atlas.dot)
    raised = at_once(
        atlas,
        *[
            lambda: organization_services.create_org(
                actor=dot, slug="fresh", name="", owner=atlas.ada
            )
        ]
        * 6,
    )
    assert [type(error) for error in raised if error] == [Conflict] * 5
    assert Organization.objects.filter(slug="fresh").count() == 1


def test_concurrent_add_member_creates_one_account(atlas):
    ada = atlas.actor(atlas.ada)
    raised = at_once(
        atlas,
        *[
            lambda: organization_services.add_member(
                actor=ada, org=atlas.atlas, email="eve@x.example"
            )
        ]
        * 6,
    )
    assert [type(error) for error in raised if error] == [Conflict] * 5
    with org_scope(atlas.atlas.id):
        assert Membership.objects.filter(user__email="eve@x.example").count() == 1


def test_concurrent_add_team_member_adds_once(atlas):
    ada = atlas.actor(atlas.ada)
    with org_scope(atlas.atlas.id):
        organization_services.add_member(actor=ada, org=atlas.atlas, email="eve@x.example")
    raised = at_once(
        atlas,
        *[
            lambda: organization_services.add_team_member(
                actor=ada, team=atlas.vision, email="eve@x.example"
            )
        ]
        * 6,
    )
    assert [type(error) for error in raised if error] == [Conflict] * 5


@pytest.mark.parametrize("turn", range(3))
def test_concurrent_owner_removal_keeps_one(atlas, turn):
    with org_scope(atlas.atlas.id):
        organization_services.change_member(
            actor=atlas.actor(atlas.ada), org=atlas.atlas, email=atlas.ben.email, role="owner"
        )
    ada, ben = atlas.actor(atlas.ada), atlas.actor(atlas.ben)
    raised = at_once(
        atlas,
        lambda: organization_services.remove_member(
            actor=ada, org=atlas.atlas, email=atlas.ada.email
        ),
        lambda: organization_services.change_member(
            actor=ben, org=atlas.atlas, email=atlas.ben.email, role="member"
        ),
    )
    assert [type(error) for error in raised if error] == [Conflict]
    with org_scope(atlas.atlas.id):
        assert Membership.objects.filter(role="owner").count() == 1


def test_concurrent_member_removal_removes_once(atlas):
    ada = atlas.actor(atlas.ada)
    raised = at_once(
        atlas,
        *[
            lambda: organization_services.remove_member(
                actor=ada, org=atlas.atlas, email=atlas.ben.email
            )
        ]
        * 4,
    )
    assert [type(error) for error in raised if error] == [NotFound] * 3


def test_concurrent_limit_changes_keep_one_value(atlas):
    ada = atlas.actor(atlas.ada)

    def setting(limit: int) -> Callable[[], object]:
        return lambda: set_limits.set_quota(
            actor=ada, org=atlas.atlas, scope="team", subject="vision", resource="gpu", limit=limit
        )

    raised = at_once(atlas, *[setting(n) for n in range(8)])
    assert [error for error in raised if error and not isinstance(error, PortalError)] == []
    assert raised == [None] * 8
