"""Sessions: the list, permission to end them, and the effects."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from portal.core import clock
from portal.core.errors import NotFound
from portal.core.models import Event
from tests.each import each
from tests.story import PASSWORD
from workspaces.access.actors import actor_of
from workspaces.identity import sessions
from workspaces.identity.connections import BySession, ended
from workspaces.identity.sessions import (
    delete_expired_sign_ins,
    device,
    end_other_sessions,
    end_session,
    sessions_of,
)
from workspaces.models import SignIn

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture(autouse=True)
def nothing_was_seen_before():
    sessions._seen.clear()


def browsing(story, person, agent=FIREFOX, address="192.0.2.7") -> Client:
    browser = Client(headers={"User-Agent": agent}, REMOTE_ADDR=address)
    browser.force_login(person)
    assert browser.get("/accounts/sessions/").status_code == 200
    return browser


def test_session_is_listed_with_device_address_and_times(story):
    browser = browsing(story, story.ada)
    browsing(story, story.ben)
    [row] = sessions_of(story.ada.id, browser.session.session_key)
    assert (row["device"], row["address"], row["is_current"]) == (
        "Firefox 145 on Linux",
        "192.0.2.7",
        True,
    )
    page = browser.get("/accounts/sessions/").content.decode()
    assert "Firefox 145 on Linux" in page and "This session" in page


def test_session_use_is_written_once_a_minute(story, django_assert_num_queries):
    browser = browsing(story, story.ada)
    before = SignIn.objects.get().last_seen_at
    browser.get("/accounts/sessions/")
    assert SignIn.objects.get().last_seen_at == before
    sessions._seen.clear()
    browser.get("/accounts/sessions/")
    assert SignIn.objects.get().last_seen_at > before


def test_session_sign_out_closes_websocket(story):
    here, there = browsing(story, story.ada), browsing(story, story.ada, address="198.51.100.9")
    way = BySession(there.session.session_key)
    other = next(
        row for row in sessions_of(story.ada.id, here.session.session_key) if not row["is_current"]
    )
    here.post("/accounts/sessions/", {"id": str(other["id"])})
    assert (
        there.get("/atlas/teams").status_code == 302 and here.get("/atlas/teams").status_code == 200
    )
    assert ended({way: actor_of(story.ada)}) == {way} and way.actor() is None
    event = Event.objects.get(kind="session.ended")
    assert event.data["address"] == "198.51.100.9" and event.org_id == story.atlas.id, (
        "auditors of her organization see the event"
    )


def test_sign_out_others_keeps_current_and_other_users(story):
    here, *others = [browsing(story, story.ada) for _ in range(3)]
    bens = browsing(story, story.ben)
    here.post("/accounts/sessions/")
    assert [browser.get("/atlas/teams").status_code for browser in (here, *others, bens)] == [
        200,
        302,
        302,
        200,
    ]


def test_session_of_other_user_cannot_be_ended(story):
    browsing(story, story.ben)
    row = SignIn.objects.get()
    for pk in (row.id, uuid4()):
        with pytest.raises(NotFound):
            end_session(story.ada.id, pk, actor=story.ada.email)
    browsing(story, story.ada).post("/accounts/sessions/", {"id": str(row.id)})
    assert SignIn.objects.filter(id=row.id).exists()


def test_session_sign_out_invalid_id_ends_nothing(story):
    browser = browsing(story, story.ada)
    assert browser.post("/accounts/sessions/", {"id": "nonsense"}).status_code == 302
    assert SignIn.objects.count() == 1


def test_sessions_page_denies_anonymous_and_tokens(story):
    assert Client().get("/accounts/sessions/")["Location"].startswith("/accounts/login/")
    assert story.api(story.ada).get("/accounts/sessions/").status_code == 302


def test_ended_sessions_are_not_listed(story):
    browser = browsing(story, story.ada)
    browser.logout()
    assert sessions_of(story.ada.id) == []
    delete_expired_sign_ins()
    assert not SignIn.objects.exists()
    assert end_other_sessions(story.ada.id, None, actor="") == 0


def test_expired_sessions_are_deleted(story):
    browsing(story, story.ada)
    browsing(story, story.ben)
    Session.objects.filter(session_key=SignIn.objects.get(user=story.ada).key).update(
        expire_date=clock.now() - timedelta(seconds=1)
    )
    delete_expired_sign_ins()
    assert SignIn.objects.get().user == story.ben and Session.objects.count() == 1


@each(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox 145 on Linux"),
        ("", "Unknown"),
        ("python-httpx/0.28", "A program"),
        (
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
                "Chrome/143.0 Safari/537.36 Edg/143.0"
            ),
            "Edge 143 on Windows",
        ),
        (
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like "
                "Gecko) Version/26.0 Safari/605.1.15"
            ),
            "Safari 26 on macOS",
        ),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 "
                "Mobile/15E148 Safari/604.1"
            ),
            "Safari on iPhone",
        ),
    ],
)
def test_device_has_readable_name(agent, name):
    assert device(agent) == name


@each(
    ("row", "is_in"),
    [
        ({"last_seen_at": 71}, True),
        ({"last_seen_at": 73}, False),
        ({"created_at": 335}, True),
        ({"created_at": 337}, False),
    ],
)
@each("by", ["the next request", "the clock"])
def test_session_expires_when_idle_and_absolutely(story, row, is_in, by):
    browser = browsing(story, story.ada)
    key = browser.session.session_key
    [(name, hours)] = row.items()
    SignIn.objects.update(**{name: clock.now() - timedelta(hours=hours)})
    sessions._seen.clear()
    if by == "the clock":
        delete_expired_sign_ins()
    assert (browser.get("/atlas/teams").status_code == 200) == is_in
    assert (browser.get("/accounts/sessions/").status_code == 200) == is_in
    assert (
        Session.objects.filter(session_key=key).exists()
        == is_in
        == (not Event.objects.filter(kind="session.ended").exists())
    )
    assert (BySession(key).actor() is not None) == is_in


def test_sign_in_rotates_random_session_key(story):
    browser, keys = Client(), []
    for _ in range(3):
        browser.post("/accounts/login/", {"login": story.ada.email, "password": PASSWORD})
        keys.append(browser.session.session_key)
        assert browser.get("/atlas/teams").status_code == 200
        keys.append(story.client(story.ada).session.session_key)
        browser.post("/accounts/logout/")
    assert len(set(keys)) == 6
    assert all(
        len(key) == 32 and set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789") for key in keys
    )  # 165 bits
    assert not Session.objects.filter(session_key__in=keys[::2]).exists()
    planted = Client()
    planted.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    planted.post("/accounts/login/", {"login": story.ada.email, "password": PASSWORD})
    assert planted.session.session_key != "a" * 32
