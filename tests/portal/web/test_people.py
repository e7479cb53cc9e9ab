"""Programs pass by the layers that only people need, and get the same answers for it."""

from __future__ import annotations

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

ME, JOBS = "/api/v1/me", "/api/v1/orgs/atlas/jobs"


@pytest.fixture
def no_session(monkeypatch):
    monkeypatch.setattr(
        SessionStore, "__init__", lambda self, key=None: pytest.fail("a session was begun")
    )


def test_a_program_with_a_token_begins_no_session_even_with_a_cookie(story, request):
    client = story.client(story.cyd)
    request.getfixturevalue("no_session")
    answer = client.get(JOBS, headers={"Authorization": f"Bearer {story.token(story.ada)}"})
    assert answer.status_code == 200 and not answer.cookies
    assert (
        answer.headers["X-Frame-Options"] == "DENY"
        and "default-src" in answer.headers["Content-Security-Policy"]
    )


@pytest.mark.parametrize("path", [JOBS, ME])
def test_a_wrong_token_is_refused_whatever_cookie_comes_with_it(story, path):
    assert (
        story.client(story.ada).get(path, headers={"Authorization": "Bearer mst_wrong"}).status_code
        == 401
    )


def test_an_empty_authorization_header_is_none_and_the_session_counts(story):
    assert story.client(story.ada).get(JOBS, headers={"Authorization": ""}).status_code == 200
    assert Client().get(JOBS, headers={"Authorization": ""}).status_code == 401


def test_a_page_of_ours_that_calls_the_api_by_its_cookie_still_needs_the_csrf_token(story):
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.ada)
    assert client.get(JOBS).status_code == 200
    assert client.post(JOBS, "{}", content_type="application/json").status_code == 403


def test_pages_know_their_visitor_also_with_a_token_in_the_request(story):
    answer = story.client(story.ada).get(
        "/atlas/jobs", headers={"Authorization": f"Bearer {story.token(story.ada)}"}, follow=True
    )
    assert answer.status_code == 200 and hasattr(answer.wsgi_request, "session")
