"""Ended access is detected by events, session and account, for each socket independently."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.sessions.models import Session

from monitoring.live import access
from monitoring.live.access import LATE, AccessEvents, AccessWatch, RecheckCache
from portal.core import clock
from portal.core.errors import NotFound
from portal.core.models import Event
from workspaces.access.actors import actor_of
from workspaces.access.services import change_role, create_role
from workspaces.credentials.tokens import create_token, rotate_token
from workspaces.identity.connections import BySession, ByToken, ended
from workspaces.models import AccessToken
from workspaces.organizations.services import change_team_member, remove_member
from workspaces.tenancy.scope import no_scope, org_scope


def member_changed(org, position: int | None = None) -> Event:
    return Event.objects.create(
        kind="member.changed", org_id=org.id, **({"position": position} if position else {})
    )


def signed_in(story, person) -> BySession:
    return BySession(story.client(person).session.session_key)


def test_news_reports_each_access_change_once(story):
    news = AccessEvents()
    assert news.look() == set()
    member_changed(story.atlas)
    member_changed(story.atlas)
    Event.objects.create(kind="job.submitted", org_id=story.borealis.id)
    assert news.look() == {story.atlas.id}
    assert news.look() == set()


def test_news_reports_change_committed_out_of_order(story):
    position = member_changed(story.atlas).position
    news = AccessEvents()
    news.look()
    member_changed(story.atlas, position + 10)
    news.look()
    member_changed(story.borealis, position + 5)
    assert news.look() == {story.borealis.id}


def test_news_query_is_bounded(story, django_assert_num_queries):
    news = AccessEvents()
    news.look()
    Event.objects.create(kind="job.submitted", position=10_000_000)
    news.look()
    member_changed(story.atlas, 10_000_000 - LATE - 1)
    with django_assert_num_queries(2):
        assert news.look() == set()


def test_ended_session_ends_its_websocket(story):
    ways = {signed_in(story, person): actor_of(person) for person in (story.ada, story.ben)}
    assert ended(ways) == set()
    first, second = ways
    Session.objects.filter(session_key=first.key).delete()
    assert ended(ways) == {first}
    assert (first.actor(), second.actor().email) == (None, story.ben.email)


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_operator": False}])
def test_deactivated_or_demoted_user_ends_websocket(story, change):
    with no_scope():
        ways = {signed_in(story, story.dot): actor_of(story.dot), ByToken("x"): actor_of(story.dot)}
        for name, value in change.items():
            setattr(story.dot, name, value)
        story.dot.save()
        assert ended(ways) == set(ways)


def test_ended_check_of_many_sockets_takes_three_queries(story, django_assert_num_queries):
    ways: dict[Any, Any] = {
        signed_in(story, person): actor_of(person)
        for person in (story.ada, story.ben, story.cyd, story.dot)
    }
    with no_scope():
        ways |= {
            way: way.actor()
            for way in (
                ByToken(story.token(person)) for person in (story.ada, story.ben, story.cyd)
            )
        }
        with django_assert_num_queries(3):
            assert ended(ways) == set()


@pytest.mark.parametrize("end", ["revoked", "expired", "rotated"])
def test_ended_token_ends_websocket(story, end):
    secret = story.token(story.ben)
    with no_scope():
        way = ByToken(secret)
        ways = {way: way.actor(), ByToken("x"): actor_of(story.ada)}
        assert ended(ways) == set()
    with org_scope(story.atlas.id):
        row, ben = AccessToken.objects.get(), story.actor(story.ben)
        if end == "revoked":
            AccessToken.objects.update(revoked_at=clock.now())  # without an event
        elif end == "rotated":
            rotate_token(actor=ben, token_id=row.id, overlap_hours=1)
    after = {"revoked": timedelta(), "expired": timedelta(days=91), "rotated": timedelta(hours=1)}[
        end
    ]
    with no_scope(), clock.frozen(clock.now() + after):
        assert ended(ways) == {way}
        assert way.actor() is None


def test_websocket_from_outside_token_networks_is_refused(story):
    with org_scope(story.atlas.id):
        made = create_token(
            actor=story.actor(story.ben),
            org=story.atlas,
            name="n",
            scopes=["all"],
            networks=["10.0.0.0/8"],
        )
    with no_scope():
        assert ByToken(made.secret, "10.0.0.9").actor().email == story.ben.email
        assert ByToken(made.secret, "192.0.2.1").actor() is ByToken(made.secret).actor() is None


def test_removed_member_is_granted_nothing(story):
    way, topic = signed_in(story, story.ben), f"jobs:{story.atlas.id.hex}"
    actor, now = RecheckCache().of(way, [topic])
    assert actor.email == story.ben.email and now[topic].bus_topics == (
        f"jobs:{story.vision.id.hex}",
    )
    with org_scope(story.atlas.id):
        remove_member(actor=story.actor(story.ada), org=story.atlas, email=story.ben.email)
    actor, now = RecheckCache().of(way, [topic])
    assert actor.email == story.ben.email and isinstance(now[topic], NotFound)


def test_recheck_of_many_sockets_of_one_user_costs_as_one(story, django_assert_num_queries):
    queries, way, topic = RecheckCache(), signed_in(story, story.ben), f"jobs:{story.atlas.id.hex}"
    queries.of(way, [topic])
    with django_assert_num_queries(0):
        queries.of(way, [topic])


class Socket:
    """A socket as AccessWatch sees it, whose rechecks fail as often as configured."""

    way, actor = ByToken("x"), SimpleNamespace(user_id=None)

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.asked = failures, 0

    def is_about(self, orgs: set[Any]) -> bool:
        return "atlas" in orgs

    async def recheck(self, asked: RecheckCache) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise OSError
        self.asked += 1


async def test_recheck_failure_is_retried_and_blocks_no_other_socket(monkeypatch):
    looks = iter([set(), {"atlas"}])
    monkeypatch.setattr(access, "EVERY", 0.01)
    monkeypatch.setattr(AccessEvents, "look", lambda self: next(looks, set()))
    monkeypatch.setattr(access, "ended", lambda ways: set())
    sockets = [Socket(3), *(Socket() for _ in range(5))]
    watch = AccessWatch()
    for socket in sockets:
        await watch.join(socket)  # type: ignore[arg-type]
    async with asyncio.timeout(5):
        while not all(socket.asked for socket in sockets):  # noqa: ASYNC110  (the watch offers nothing to wait for)
            await asyncio.sleep(0.01)
    assert [socket.asked for socket in sockets] == [1] * 6
    for socket in sockets:
        watch.leave(socket)  # type: ignore[arg-type]


def test_reduced_role_ends_subscriptions_despite_cache(story):
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        create_role(
            actor=ada,
            org=story.atlas,
            slug="trainer",
            kind="team",
            permissions=["jobs:read", "jobs:submit"],
        )
        change_team_member(actor=ada, team=story.vision, email=story.ben.email, role="trainer")
    topic, way, news = f"jobs:{story.atlas.id.hex}", signed_in(story, story.ben), AccessEvents()
    news.look()
    assert RecheckCache().of(way, [topic])[1][topic].bus_topics == (f"jobs:{story.vision.id.hex}",)
    with org_scope(story.atlas.id):  # as another process does it: caches of this one are kept
        change_role(actor=ada, org=story.atlas, slug="trainer", permissions=["jobs:submit"])
    assert news.look() == {story.atlas.id}
    assert RecheckCache().of(way, [topic])[1][topic].bus_topics == ()
