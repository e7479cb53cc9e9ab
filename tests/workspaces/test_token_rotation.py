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


def test_rotate_token_both_work_during_overlap(atlas):
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


def test_rotate_token_overlap_never_extends_lifetime(atlas):
    old = made(atlas, days=1)
    rotate_token(actor=atlas.actor(atlas.ben), token_id=old.row.id, overlap_hours=168)
    assert AccessToken.objects.get(id=old.row.id).expires_at == old.row.expires_at


def test_rotate_token_without_overlap_ends_old_at_once(atlas):
    old = made(atlas)
    rotate_token(actor=atlas.actor(atlas.ben), token_id=old.row.id, overlap_hours=0)
    assert authenticate_token(old.secret) is None


def test_rotate_token_twice_is_conflict(atlas):
    old, ben = made(atlas), atlas.actor(atlas.ben)
    rotate_token(actor=ben, token_id=old.row.id)
    with pytest.raises(Conflict):
        rotate_token(actor=ben, token_id=old.row.id)
    assert AccessToken.objects.count() == 2


def test_rotate_token_of_other_user_is_not_found(atlas):
    bens = made(atlas)
    with pytest.raises(NotFound):
        rotate_token(actor=atlas.actor(atlas.ada), token_id=bens.row.id)


def test_rotate_token_by_token_only_if_not_wider(atlas):
    wide, narrow = made(atlas), made(atlas, scopes=["tokens:write"])
    actor = authenticate_token(narrow.secret).enter(atlas.atlas)
    with pytest.raises(NotPermitted):
        rotate_token(actor=actor, token_id=wide.row.id)
    assert rotate_token(actor=actor, token_id=narrow.row.id).row.scopes == ["tokens:write"]


@each("hours", [-1, 169])
def test_rotate_token_invalid_overlap_is_rejected(atlas, hours):
    with pytest.raises(InvalidInput):
        rotate_token(actor=atlas.actor(atlas.ben), token_id=made(atlas).row.id, overlap_hours=hours)


@each("end", ["revoked", "left"])
def test_rotate_token_ended_is_not_found(atlas, end):
    old, ben = made(atlas), atlas.actor(atlas.ben)
    if end == "revoked":
        revoke_token(actor=ben, token_id=old.row.id)
    else:
        remove_member(actor=atlas.actor(atlas.ada), org=atlas.atlas, email=atlas.ben.email)
    with pytest.raises(NotFound):
        rotate_token(actor=ben, token_id=old.row.id)


def test_network_token_cannot_create_wider_token(atlas):
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


def test_network_token_from_elsewhere_is_denied_and_recorded(atlas):
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
    [event] = Event.objects.filter(kind="token.refused")
    assert event.data["address"] == "198.51.100.7" and event.subject_id == bound.row.id
