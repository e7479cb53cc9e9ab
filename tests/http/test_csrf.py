"""Every unsafe route refuses requests without a valid CSRF token or from another origin."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import transaction

from tests.http.table import ACCOUNTS, API_CHANGES, PAGE_CHANGES, browser
from tests.rig.seeds import WALKS, choose, is_chosen
from workspaces.access.custom_roles import invalidate

TOKEN = "a" * 32
FOREIGN = [
    "https://evil.example",
    "null",
    "http://testserver.evil.example",
    "http://evil.example:80",
    "https://testserver@evil.example",
]
# Sent by the page of an identity provider, or by a mail program; protected by a signature.
EXEMPT = {"account_saml_acs", "account_unsubscribe"}
POSTED = [*PAGE_CHANGES, *((name, path, "POST") for name, path in ACCOUNTS if name not in EXEMPT)]


@pytest.fixture(scope="module")
def signed_in(shared_story):
    return browser(shared_story.dot, enforce_csrf_checks=True)


@contextmanager
def restored(client):
    """Restore cookies and database at the end."""
    before = client.cookies.output()
    with transaction.atomic():
        yield client
        transaction.set_rollback(True)
    invalidate()
    client.cookies.clear()
    client.cookies.load(before.replace("Set-Cookie: ", ""))


@pytest.fixture
def dot(signed_in, undone):
    """Return an operator's client, reset before each test."""
    with restored(signed_in):
        yield signed_in


@pytest.fixture(scope="module")
def token(shared_story):
    return shared_story.token(shared_story.ada)


def is_refused(answer) -> bool:
    return answer.status_code == 403 and (
        b"This form is out of date" in answer.content or b"CSRF Failed" in answer.content
    )


def send(client, verb, path, **headers):
    kind = "application/json" if path.startswith("/api/") else "application/x-www-form-urlencoded"
    return client.generic(
        verb, path, "{}" if "json" in kind else "", content_type=kind, headers=headers
    )


def with_token(client, verb, path, sent=TOKEN, **headers):
    client.cookies[settings.CSRF_COOKIE_NAME] = TOKEN
    return send(client, verb, path, **{"X-CSRFToken": sent, **headers})


@WALKS
def test_unsafe_routes_without_csrf_token_or_origin_change_nothing(signed_in, undone, is_whole):
    ways = {
        "no token": (send, {}),
        "another token": (with_token, {"sent": "b" * 32}),
        **{origin: (with_token, {"Origin": origin}) for origin in FOREIGN},
    }
    wrong = []
    for _, path, verb in (*POSTED, *API_CHANGES):
        for how in ways if is_whole else choose(ways, verb, path):  # one for each in the gate
            act, more = ways[how]
            with restored(signed_in) as dot:
                if not is_refused(act(dot, verb, path, **more)):
                    wrong.append(f"{verb} {path}: {how}")
    assert wrong == []


@WALKS
def test_unsafe_routes_from_own_page_pass_csrf_check(signed_in, undone, is_whole):
    wrong = []
    for _, path, verb in (*POSTED, *API_CHANGES):
        if not is_whole and not is_chosen(verb, path, one_in=3):
            continue
        with restored(signed_in) as dot:
            if is_refused(with_token(dot, verb, path, Origin="http://testserver")):
                wrong.append(f"{verb} {path}")
    assert wrong == []


def test_access_token_needs_no_csrf_token(token, undone):
    program = browser(enforce_csrf_checks=True)
    wrong = []
    for _, path, verb in API_CHANGES:
        with restored(program):
            if is_refused(
                send(
                    program,
                    verb,
                    path,
                    Authorization=f"Bearer {token}",
                    Origin="https://notebook.example",
                )
            ):
                wrong.append(f"{verb} {path}")
    assert wrong == []


def test_https_form_without_origin_needs_referer(dot):
    dot.cookies[settings.CSRF_COOKIE_NAME] = TOKEN
    for headers in ({}, {"Referer": "https://evil.example/"}, {"Referer": "http://testserver/"}):
        answer = dot.post(
            "/accounts/logout/", secure=True, headers={"X-CSRFToken": TOKEN, **headers}
        )
        assert is_refused(answer), headers
    assert not is_refused(
        dot.post(
            "/accounts/logout/",
            secure=True,
            headers={"X-CSRFToken": TOKEN, "Referer": "https://testserver/"},
        )
    )


def test_route_tables_are_not_empty():
    assert len(PAGE_CHANGES) > 20
    assert len(API_CHANGES) > 30
    assert len(ACCOUNTS) > 20


def test_no_page_accepts_a_change_by_get():
    from tests.test_permission_matrix import PAGES

    changes_only = {name for name, _, view in PAGES if "GET" not in view.methods}
    assert {name for name, _, _ in PAGE_CHANGES} >= changes_only
