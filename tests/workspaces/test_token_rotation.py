"""Token rotation: successor, overlap, and networks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.access.actors import Actor
from workspaces.credentials.token_format import authenticate_token
from workspaces.credentials.tokens import create_token, revoke_token, rotate_token
from workspaces.models import AccessToken
from workspaces.organizations.services import remove_member
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story


def made(story, person=None, **more):
    return create_token(
        actor=story.actor(person or story.ben),
        org=story.atlas,
        **{"name": "ci", "scopes": ["all"], **more},
    )


def test_the_old_token_works_for_the_overlap_and_the_new_one_from_now_on(atlas):
    old = made(
        atlas,
        days=30,
        networks=["10.0.0.0/8"],
        scopes=["jobs:read", "tokens:write"],
        team=atlas.vision,
    )
    begin = clock.now()
    new = rotate_token(actor=atlas.actor(atlas.ben), token_id=old.row.id, overlap_hours=6)
    same = ("name", "scopes", "networks", "team_id", "user_id")
    assert all(getattr(new.row, name) == getattr(old.row, name) for name in same)
    assert abs(new.row.expires_at - begin - timedelta(days=30)) < timedelta(seconds=5)
    for hours, works in ((0, True), (5.9, True), (6.1, False)):
        with clock.frozen(begin + timedelta(hours=hours)):
            assert (authenticate_token(old.secret, "10.1.1.1") is not None) == works
            assert authenticate_token(new.secret, "10.1.1.1")
    assert Event.objects.get(kind="token.rotated").data["successor"] == str(new.row.id)


def test_an_overlap_never_makes_a_token_live_longer(atlas):
    old = made(atlas, days=1)
    rotate_token(actor=atlas.actor(atlas.ben), token_id=old.row.id, overlap_hours=168)
    assert AccessToken.objects.get(id=old.row.id).expires_at == old.row.expires_at


def test_without_an_overlap_the_old_token_ends_at_once(atlas):
    old = made(atlas)
    rotate_token(actor=atlas.actor(atlas.ben), token_id=old.row.id, overlap_hours=0)
    assert authenticate_token(old.secret) is None


def test_a_token_is_rotated_once(atlas):
    old, ben = made(atlas), atlas.actor(atlas.ben)
    rotate_token(actor=ben, token_id=old.row.id)
    with pytest.raises(Conflict):
        rotate_token(actor=ben, token_id=old.row.id)
    assert AccessToken.objects.count() == 2


def test_not_even_an_owner_rotates_the_token_of_another_person(atlas):
    bens = made(atlas)
    with pytest.raises(NotFound):
        rotate_token(actor=atlas.actor(atlas.ada), token_id=bens.row.id)


def test_a_token_may_rotate_itself_but_none_that_can_more(atlas):
    wide, narrow = made(atlas), made(atlas, scopes=["tokens:write"])
    actor = authenticate_token(narrow.secret).enter(atlas.atlas)
    with pytest.raises(NotPermitted):
        rotate_token(actor=actor, token_id=wide.row.id)
    assert rotate_token(actor=actor, token_id=narrow.row.id).row.scopes == ["tokens:write"]


@each("hours", [-1, 169])
def test_an_overlap_has_bounds(atlas, hours):
    with pytest.raises(InvalidInput):
        rotate_token(actor=atlas.actor(atlas.ben), token_id=made(atlas).row.id, overlap_hours=hours)


@each("end", ["revoked", "left"])
def test_what_has_ended_has_no_successor(atlas, end):
    old, ben = made(atlas), atlas.actor(atlas.ben)
    if end == "revoked":
        revoke_token(actor=ben, token_id=old.row.id)
    else:
        remove_member(actor=atlas.actor(atlas.ada), org=atlas.atlas, email=atlas.ben.email)
    with pytest.raises(NotFound):
        rotate_token(actor=ben, token_id=old.row.id)


def test_a_token_bound_to_networks_makes_none_that_is_bound_less(atlas):
    bound = made(atlas, networks=["10.0.0.0/8"])
    actor: Actor = authenticate_token(bound.secret, "10.9.9.9").enter(atlas.atlas)
    for networks in ([], ["192.0.2.0/24"]):
        with pytest.raises(NotPermitted):
            create_token(
                actor=actor, org=atlas.atlas, name="wide", scopes=["all"], networks=networks
            )
    assert create_token(
        actor=actor, org=atlas.atlas, name="narrow", scopes=["all"], networks=["10.1.0.0/16"]
    ).row.networks == ["10.1.0.0/16"]


def test_from_elsewhere_a_token_is_refused_in_words_and_told_once_a_minute(atlas):
    bound = made(atlas, networks=["10.0.0.0/8"])

    def asked(address: str, **headers: str):
        return Client(
            headers={"Authorization": f"Bearer {bound.secret}", **headers}, REMOTE_ADDR=address
        ).get("/api/v1/orgs/atlas/teams")

    assert asked("10.1.2.3").status_code == 200
    refused = [
        asked("198.51.100.7"),
        asked(
            "198.51.100.7",
            **{"X-Forwarded-For": "10.1.2.3", "X-Real-IP": "10.1.2.3", "Forwarded": "for=10.1.2.3"},
        ),
    ]
    assert [answer.status_code for answer in refused] == [403, 403]
    assert (
        refused[0].json()["code"] == "token_network"
        and "198.51.100.7" in refused[0].json()["detail"]
    )
    [told] = Event.objects.filter(kind="token.refused")
    assert told.data["address"] == "198.51.100.7" and told.subject_id == bound.row.id
