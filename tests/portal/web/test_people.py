"""API requests with a token bypass middleware for browsers, with the same results."""

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


def test_api_token_request_starts_no_session(story, request):
    client = story.client(story.cyd)
    request.getfixturevalue("no_session")
    answer = client.get(JOBS, headers={"Authorization": f"Bearer {story.token(story.ada)}"})
    assert answer.status_code == 200 and not answer.cookies
    assert (
        answer.headers["X-Frame-Options"] == "DENY"
        and "default-src" in answer.headers["Content-Security-Policy"]
    )


@pytest.mark.parametrize("path", [JOBS, ME])
def test_invalid_token_is_refused_despite_session_cookie(story, path):
    assert (
        story.client(story.ada).get(path, headers={"Authorization": "Bearer mst_wrong"}).status_code
        == 401
    )


def test_empty_authorization_header_falls_back_to_session(story):
    assert story.client(story.ada).get(JOBS, headers={"Authorization": ""}).status_code == 200
    assert Client().get(JOBS, headers={"Authorization": ""}).status_code == 401


def test_api_request_with_session_needs_csrf_token(story):
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.ada)
    assert client.get(JOBS).status_code == 200
    assert client.post(JOBS, "{}", content_type="application/json").status_code == 403


def test_pages_use_session_despite_authorization_header(story):
    answer = story.client(story.ada).get(
        "/atlas/jobs", headers={"Authorization": f"Bearer {story.token(story.ada)}"}, follow=True
    )
    assert answer.status_code == 200 and hasattr(answer.wsgi_request, "session")
