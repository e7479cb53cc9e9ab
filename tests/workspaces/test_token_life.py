"""Lifetime of tokens, and the tokens of jobs."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.credentials.token_format import (
    authenticate_token,
    is_well_formed,
    secret_of_attempt,
)
from workspaces.credentials.tokens import (
    Bearer,
    create_token,
    issue_attempt_tokens,
    revoke_attempt_tokens,
)
from workspaces.models import AccessToken
from workspaces.tenancy.scope import org_scope, platform_scope


def test_token_wrong_character_fails_without_query(story):
    secret = story.token(story.ada)
    with CaptureQueriesContext(connection) as queries:
        for at in range(len(secret)):
            wrong = secret[:at] + ("A" if secret[at] != "A" else "B") + secret[at + 1 :]
            assert not is_well_formed(wrong)
            assert authenticate_token(wrong) is None
    assert len(queries) == 0


def test_token_expires_exactly_on_time(story):
    secret = story.token(story.ada)
    with platform_scope("test"):
        end = AccessToken.objects.get().expires_at
    with clock.frozen(end - timedelta(seconds=1)):
        assert authenticate_token(secret)
    with clock.frozen(end):
        assert authenticate_token(secret) is None


def test_token_without_expiry_never_expires(story):
    with org_scope(story.atlas.id):
        made = create_token(
            actor=story.actor(story.ada),
            org=story.atlas,
            name="for ever",
            scopes=["all"],
            days=None,
        )
    with clock.frozen(clock.now() + timedelta(days=36500)):
        assert authenticate_token(made.secret)


def test_token_of_disabled_user_is_invalid(story):
    secret = story.token(story.ben)
    story.ben.is_active = False
    story.ben.save()
    assert authenticate_token(secret) is None


def test_token_survives_key_rotation_with_fallback_only(story, settings):
    secret, old = story.token(story.ada), settings.SECRET_KEY
    settings.SECRET_KEY = "another key, made today and long enough to be one"
    assert authenticate_token(secret) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert authenticate_token(secret)


def test_token_last_use_is_written_once_a_minute(story):
    secret, begin = story.token(story.ada), clock.now()

    def used_at(seconds: float):
        with clock.frozen(begin + timedelta(seconds=seconds)), platform_scope("test"):
            authenticate_token(secret, "10.0.0.7")
            return AccessToken.objects.get().last_used_at

    assert used_at(0) == used_at(59) == begin
    assert used_at(61) == begin + timedelta(seconds=61)
    with platform_scope("test"):
        assert AccessToken.objects.get().last_used_address == "10.0.0.7"


def _attempt_token(story, attempt_id):
    with platform_scope("test"):
        return issue_attempt_tokens(
            [Bearer(story.atlas.id, story.vision.id, story.ben.id, attempt_id, "job #1")]
        )[0]


def test_attempt_token_ends_with_attempt(story):
    attempt_id = uuid7()
    secret = _attempt_token(story, attempt_id)
    assert authenticate_token(secret)
    with platform_scope("test"):
        revoke_attempt_tokens([attempt_id])
    assert authenticate_token(secret) is None


def test_attempt_token_is_limited_to_team(story):
    actor = authenticate_token(_attempt_token(story, uuid7())).enter(story.atlas)
    assert actor.may("jobs:submit", story.vision.id)
    assert not actor.may("jobs:submit", story.speech.id)
    assert not actor.may("tokens:write", story.vision.id)
    assert not actor.may("jobs:exec", story.vision.id)


def test_attempt_token_issued_twice_is_same(story):
    attempt_id = uuid7()
    first, second = _attempt_token(story, attempt_id), _attempt_token(story, attempt_id)
    assert first == second
    assert is_well_formed(first)
    assert authenticate_token(first)
    with platform_scope("test"):
        assert AccessToken.objects.count() == 1
    assert _attempt_token(story, uuid7()) != first


def test_attempt_token_depends_on_secret_key(story, settings):
    attempt_id = uuid7()
    first = secret_of_attempt(attempt_id)
    settings.SECRET_KEY = "another key, made today and long enough to be one"
    assert secret_of_attempt(attempt_id) != first
