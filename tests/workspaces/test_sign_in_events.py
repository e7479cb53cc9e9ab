"""Sign-ins, sign-outs and denials are recorded as events."""

from __future__ import annotations

import json

from django.core import mail
from django.test import Client

from portal.core.events import EventRecord
from portal.core.models import Event
from portal.web import denials
from tests.each import each
from tests.story import PASSWORD

LOGIN = "/accounts/login/"
FROM = {"REMOTE_ADDR": "198.51.100.7"}


def facts(kind: str) -> list[Event]:
    return list(Event.objects.filter(kind=kind).order_by("position"))


def sign_in(email: str, password: str) -> Client:
    browser = Client()
    browser.post(LOGIN, {"login": email, "password": password}, **FROM)
    return browser


def test_sign_in_and_out_are_recorded_in_each_organization(story):
    browser = sign_in("ada@atlas.example", PASSWORD)
    [came] = facts("sign_in.succeeded")
    assert (came.actor, came.org_id, came.address) == (
        "ada@atlas.example",
        story.atlas.id,
        "198.51.100.7",
    )
    browser.post("/accounts/logout/", **FROM)
    [left] = facts("sign_in.ended")
    assert (left.actor, left.subject_id) == ("ada@atlas.example", story.ada.id)


def test_failed_sign_in_records_email_without_password(story):
    sign_in("ada@atlas.example", "canary-wrong-password")
    sign_in("nobody@nowhere.example", "canary-wrong-password")
    known, unknown = facts("sign_in.failed")
    assert (known.actor, known.org_id, known.data) == (
        "ada@atlas.example",
        story.atlas.id,
        {"is_known": True},
    )
    assert (unknown.actor, unknown.org_id, unknown.data) == (
        "nobody@nowhere.example",
        None,
        {"is_known": False},
    )
    assert "canary" not in json.dumps(list(Event.objects.values()), default=str)


def test_password_change_is_recorded(story):
    browser = sign_in("ada@atlas.example", PASSWORD)
    browser.post(
        "/accounts/password/change/",
        {"oldpassword": PASSWORD, "password1": "another-canary-1", "password2": "another-canary-1"},
    )
    assert [fact.actor for fact in facts("password.changed")] == ["ada@atlas.example"]
    assert "another-canary" not in json.dumps(list(Event.objects.values()), default=str)


def test_password_reset_request_and_use_are_recorded(story):
    Client().post("/accounts/password/reset/", {"email": "ada@atlas.example"}, **FROM)
    assert [fact.address for fact in facts("password.reset_asked")] == ["198.51.100.7"]
    link = next(
        word for word in mail.outbox[0].body.split() if "/accounts/password/reset/key/" in word
    )
    browser = Client()
    form = browser.get(link, follow=True).redirect_chain[-1][0]
    browser.post(form, {"password1": "another-canary-1", "password2": "another-canary-1"})
    assert [fact.actor for fact in facts("password.reset")] == ["ada@atlas.example"]


def test_denied_request_is_recorded_in_organization(story):
    assert (
        story.api(story.ben)
        .post("/api/v1/orgs/atlas/teams", {"slug": "mine"}, content_type="application/json", **FROM)
        .status_code
        == 403
    )
    [denied] = facts("access.denied")
    assert (denied.actor, denied.org_id, denied.address) == (
        "ben@atlas.example",
        story.atlas.id,
        "198.51.100.7",
    )
    assert denied.data == {
        "method": "POST",
        "path": "/api/v1/orgs/atlas/teams",
        "status": 403,
        "code": "not_permitted",
        "permission": "teams:write",
    }
    assert denied.via.startswith("token ") and denied.via.endswith(" story")


@each("path", ["/atlas/", "/api/v1/orgs/atlas/teams"])
def test_denied_non_member_is_recorded_in_organization(story, path):
    assert story.client(story.cyd).get(path).status_code == 404
    [denied] = facts("access.denied")
    assert (denied.actor, denied.org_id, denied.data["status"]) == (
        "cyd@borealis.example",
        story.atlas.id,
        404,
    )


def test_denied_form_with_message_is_recorded(story):
    story.client(story.ben).post("/atlas/teams", {"slug": "mine"})
    assert [fact.data["permission"] for fact in facts("access.denied")] == ["teams:write"]


def test_not_found_is_not_recorded_as_denial(story):
    browser = story.client(story.ada)
    assert browser.get("/atlas/jobs/99").status_code == 404
    assert browser.get("/nosuchplace/").status_code == 404
    assert facts("access.denied") == []


def test_repeated_denials_are_rate_limited(story):
    api = story.api(story.ben)
    for _ in range(denials.MOST + 5):
        assert (
            api.post(
                "/api/v1/orgs/atlas/teams", {"slug": "mine"}, content_type="application/json"
            ).status_code
            == 403
        )
    events = facts("access.denied")
    assert len(events) == denials.MOST
    assert ["more" in fact.data for fact in events] == [False] * (denials.MOST - 1) + [True]


def test_denial_is_answered_if_recording_fails(story, monkeypatch):
    def broken(fact: EventRecord) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(denials, "record", broken)
    assert (
        story.api(story.ben)
        .post("/api/v1/orgs/atlas/teams", {"slug": "mine"}, content_type="application/json")
        .status_code
        == 403
    )


def test_token_first_use_is_recorded_once(story):
    api = story.api(story.ben)
    for _ in range(3):
        api.get("/api/v1/me", **FROM)
    [used] = facts("token.first_used")
    assert (used.actor, used.org_id, used.data, used.address) == (
        "ben@atlas.example",
        story.atlas.id,
        {"name": "story"},
        "198.51.100.7",
    )


@each("said", ["203.0.113.66", "203.0.113.66, 198.51.100.7"])
def test_forwarded_address_of_client_is_ignored(story, said):
    story.client(story.cyd).get("/atlas/", headers={"X-Forwarded-For": said}, **FROM)
    assert [fact.address for fact in facts("access.denied")] == ["198.51.100.7"]
