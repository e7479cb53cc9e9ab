"""The form of an access token, and who it lets in."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models import AccessToken
from workspaces.services import create_token
from workspaces.services.tokens import issue_attempt_token, revoke_attempt_tokens
from workspaces.tenancy.scope import org_scope, platform_scope
from workspaces.tokens import authenticate_token, is_well_formed, new_secret


def test_a_token_is_a_prefix_a_body_and_a_checksum():
    secret = new_secret()
    assert secret.startswith("mst_")
    assert len(secret) == 4 + 32 + 6
    assert secret[4:].isalnum()
    assert is_well_formed(secret)


def test_no_two_tokens_are_alike():
    assert len({new_secret() for _ in range(1000)}) == 1000


def test_a_single_wrong_character_is_seen_without_asking_the_database(story):
    secret = story.token(story.ada)
    with CaptureQueriesContext(connection) as asked:
        for at in range(len(secret)):
            wrong = secret[:at] + ("A" if secret[at] != "A" else "B") + secret[at + 1 :]
            assert not is_well_formed(wrong)
            assert authenticate_token(wrong) is None
    assert len(asked) == 0


@pytest.mark.parametrize("raw", ["", "mst_", "mst_" + "é" * 38, "x" * 42, new_secret() + "0", new_secret()[:-1]])
def test_what_is_no_token_lets_nobody_in(raw):
    assert authenticate_token(raw) is None


def test_the_database_never_holds_a_secret(story):
    secret = story.token(story.ada)
    with platform_scope("test"):
        row = AccessToken.objects.get()
    assert secret[12:] not in repr(row.__dict__)
    assert len(row.digest) == 64


def test_a_token_of_its_owner_acts_as_its_owner(story):
    actor = authenticate_token(story.token(story.ben))
    assert actor is not None
    assert actor.user_id == story.ben.id
    assert actor.token is not None
    assert actor.token.org_id == story.atlas.id


def test_a_token_ends_at_its_hour_and_not_before(story):
    secret = story.token(story.ada)
    with platform_scope("test"):
        end = AccessToken.objects.get().expires_at
    with clock.frozen(end - timedelta(seconds=1)):
        assert authenticate_token(secret)
    with clock.frozen(end):
        assert authenticate_token(secret) is None


def test_a_token_without_an_end_works_in_a_hundred_years(story):
    with org_scope(story.atlas.id):
        made = create_token(actor=story.actor(story.ada), org=story.atlas, name="for ever", scopes=["all"], days=None)
    with clock.frozen(clock.now() + timedelta(days=36500)):
        assert authenticate_token(made.secret)


def test_a_token_of_somebody_who_was_switched_off_lets_nobody_in(story):
    secret = story.token(story.ben)
    story.ben.is_active = False
    story.ben.save()
    assert authenticate_token(secret) is None


def test_a_token_outlives_a_change_of_the_secret_key_only_while_the_old_one_is_listed(story, settings):
    secret, old = story.token(story.ada), settings.SECRET_KEY
    settings.SECRET_KEY = "another key, made today and long enough to be one"
    assert authenticate_token(secret) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert authenticate_token(secret)


def test_the_last_use_is_noted_at_most_every_five_minutes(story):
    secret, begin = story.token(story.ada), clock.now()

    def used_at(seconds: float):
        with clock.frozen(begin + timedelta(seconds=seconds)), platform_scope("test"):
            authenticate_token(secret)
            return AccessToken.objects.get().last_used_at

    assert used_at(0) == used_at(299) == begin
    assert used_at(301) == begin + timedelta(seconds=301)


def _attempt_token(story, attempt_id):
    with platform_scope("test"):
        return issue_attempt_token(
            org_id=story.atlas.id, team_id=story.vision.id, user_id=story.ben.id, attempt_id=attempt_id, name="job #1"
        )


def test_the_token_of_an_attempt_dies_with_it(story):
    attempt_id = uuid7()
    secret = _attempt_token(story, attempt_id)
    assert authenticate_token(secret)
    with platform_scope("test"):
        revoke_attempt_tokens([attempt_id])
    assert authenticate_token(secret) is None


def test_an_attempt_that_is_started_again_has_one_token_the_new_one(story):
    attempt_id = uuid7()
    first, second = _attempt_token(story, attempt_id), _attempt_token(story, attempt_id)
    assert authenticate_token(first) is None
    assert authenticate_token(second)


def test_the_token_of_an_attempt_reaches_its_own_team_only(story):
    actor = authenticate_token(_attempt_token(story, uuid7())).enter(story.atlas)
    assert actor.may("jobs:submit", story.vision.id)
    assert not actor.may("jobs:submit", story.speech.id)
    assert not actor.may("tokens:write", story.vision.id)
    assert not actor.may("jobs:exec", story.vision.id)
