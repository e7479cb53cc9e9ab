"""Tokens created in a session of an organization's own provider allow no more than it."""

from __future__ import annotations

import pytest
from django.test import Client

from portal.core import clock
from portal.core.errors import NotPermitted
from portal.core.models import Event
from tests.each import each
from tests.workspaces.services.test_providers import OPTIONS
from tests.workspaces.test_sessions import browsing
from workspaces.access.actors import ONLY_ORG, VOUCHED_BY, actor_in_session
from workspaces.credentials.tokens import create_token, rotate_token
from workspaces.identity import sign_in
from workspaces.identity.connections import ByToken, ended
from workspaces.identity.oidc_provider.device_login import token_for
from workspaces.identity.provider_services import remove_provider, update_provider
from workspaces.identity.provisioning_services import ProviderPerson, sync_people
from workspaces.models import AccessToken, Identity, Membership, Provider, User
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def corp(story) -> Provider:
    """The provider of Atlas, which knows Ben."""
    row = Provider.objects.create(org=story.atlas, kind="ldap", slug="corp", name="Corp")
    Identity.objects.create(provider=row, subject="ben", user=story.ben, email=story.ben.email)
    return row


def let_in(story, corp, person=None):
    """Sign a user in through Corp and enter Atlas."""
    return actor_in_session(
        person or story.ben, {ONLY_ORG: str(story.atlas.id), VOUCHED_BY: str(corp.id)}
    ).enter(story.atlas)


def made(story, actor) -> str:
    with org_scope(story.atlas.id):
        return create_token(actor=actor, org=story.atlas, name="laptop", scopes=["all"]).secret


def status(secret, path="/api/v1/orgs/atlas/teams") -> int:
    return Client(headers={"Authorization": f"Bearer {secret}"}).get(path).status_code


def test_vouched_token_works_in_organization_not_account(story, corp):
    secret, own = made(story, let_in(story, corp)), story.token(story.ben)
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ben, role="owner")
    browsing(story, story.ben)
    assert (status(secret), status(secret, "/api/v1/orgs/borealis/teams")) == (200, 404)
    assert (status(secret, "/api/v1/me/sessions"), status(own, "/api/v1/me/sessions")) == (403, 200)


def test_vouched_token_has_no_operator_rights(story, corp):
    secret, own = made(story, let_in(story, corp)), story.token(story.ben)
    User.objects.filter(id=story.ben.id).update(is_operator=True)
    assert (status(own, "/api/v1/clusters"), status(secret, "/api/v1/clusters")) != (200, 200)
    actor = ByToken(secret).actor()
    assert actor is not None and not actor.is_operator and actor.only_org == story.atlas.id
    assert ended({ByToken(secret): actor}) == set()


def test_vouched_token_restrictions_are_inherited(story, corp):
    first = ByToken(made(story, let_in(story, corp))).actor().enter(story.atlas)
    with org_scope(story.atlas.id):
        create_token(actor=first, org=story.atlas, name="second", scopes=["all"])
        rotate_token(actor=first, token_id=first.token.id)
        assert (
            set(AccessToken.objects.values_list("vouched_by", flat=True)) == {corp.id}
            and AccessToken.objects.count() == 3
        )


def test_vouched_session_cannot_rotate_wider_token(story, corp):
    story.token(story.ben)
    with org_scope(story.atlas.id):
        own = AccessToken.objects.get()
        with pytest.raises(NotPermitted, match="signing in another way"):
            rotate_token(actor=let_in(story, corp), token_id=own.id)


def test_vouched_session_without_provider_creates_no_token(story):
    actor = actor_in_session(story.ben, {ONLY_ORG: str(story.atlas.id)}).enter(story.atlas)
    with pytest.raises(NotPermitted, match="Sign in again"):
        made(story, actor)


def test_cli_sign_in_token_is_limited_like_session(story, corp):
    token_for(story.ben, {"org": "atlas", "only": str(story.atlas.id), "vouched_by": str(corp.id)})
    token_for(story.ben, {"org": "atlas", "only": "", "vouched_by": ""})
    with platform_scope("test"):
        assert [row.vouched_by_id for row in AccessToken.objects.order_by("id")] == [corp.id, None]


def _unlink(story, corp):
    """Unlink the identity. The test makes that possible, as providers normally refuse it."""
    sign_in.unlink(user=story.ben, identity_id=Identity.objects.get(user=story.ben).id)


def _no_longer_named(story, corp):
    others = [ProviderPerson(f"p{n}", f"p{n}@corp.example") for n in range(3)]
    Identity.objects.bulk_create(
        Identity(provider=corp, subject=p.subject, user=User.objects.create_user(p.email))
        for p in others
    )
    assert sync_people(corp, others).is_done


def _switch_off(story, corp):
    Provider.objects.filter(id=corp.id).update(
        config={name: OPTIONS[name] for name in ("url", "people_base")}
    )
    with org_scope(story.atlas.id):
        update_provider(actor=story.actor(story.ada), provider=corp, is_enabled=False)


def _remove(story, corp):
    with org_scope(story.atlas.id):
        remove_provider(actor=story.actor(story.ada), provider=corp)


def _suspend(story, corp):
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(suspended_at=clock.now())


@each("ending", [_unlink, _no_longer_named, _switch_off, _remove, _suspend])
def test_vouched_token_ends_with_link_password_token_stays(story, corp, ending):
    session = let_in(story, corp)
    secret, own = made(story, session), story.token(story.ben)
    assert status(secret) == 200
    ending(story, corp)
    if ending is not _suspend:  # an open session creates no other token
        with pytest.raises(NotPermitted, match="no longer"):
            made(story, session)
    assert status(secret) in (401, 404)
    assert status(own) == (404 if ending is _suspend else 200)
    if ending is not _suspend:
        assert Event.objects.get(kind="token.revoked").data["why"]
