"""Service accounts: permissions, management, and no access except by token."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.access.permissions import Permission as P
from workspaces.credentials.service_accounts import (
    change_service_account,
    create_service_account,
    create_service_token,
    remove_service_account,
)
from workspaces.credentials.token_format import authenticate_token
from workspaces.credentials.tokens import TokenParams, create_token, rotate_token
from workspaces.identity.connections import BySession
from workspaces.lists import MEMBERS, SERVICE_ACCOUNTS
from workspaces.models import Membership, User
from workspaces.organizations import selectors
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.services import (
    add_member,
    add_team_member,
    change_member,
    remove_member,
)
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story


def account(story, by=None, **more):
    return create_service_account(
        actor=by or story.actor(story.ada), org=story.atlas, **{"name": "nightly", **more}
    )


def secret(story, row, by=None, **params):
    return create_service_token(
        actor=by or story.actor(story.ada),
        account=row,
        params=TokenParams(**{"name": "ci", "scopes": ["all"], **params}),
    ).secret


def admin(story):
    add_member(
        actor=story.actor(story.ada), org=story.atlas, email="amy@atlas.example", role="admin"
    )
    return story.actor(User.objects.get(email="amy@atlas.example"))


def test_service_account_token_is_limited_to_its_roles(atlas):
    row = account(atlas)
    add_team_member(actor=atlas.actor(atlas.ada), team=atlas.vision, email=row.user.email)
    actor = authenticate_token(secret(atlas, row)).enter(atlas.atlas)
    assert actor.is_service and actor.email == "nightly@atlas.service.invalid"
    assert (
        actor.may(P.JOBS_SUBMIT, atlas.vision.id)
        and not actor.may(P.JOBS_READ, atlas.speech.id)
        and not actor.may(P.MEMBERS_WRITE)
    )
    assert Event.objects.get(kind="service_account.created").data == {
        "name": "nightly",
        "after": {"role": "member", "note": ""},
    }


def listed(story):
    return SERVICE_ACCOUNTS.answer(story.actor(story.ada), {})["items"]


def test_service_account_is_listed_separately(atlas):
    row = account(atlas, note="builds")
    secret(atlas, row, days=3)
    [shown] = listed(atlas)
    assert (shown["name"], shown["note"], shown["tokens"], shown["ending_soon"]) == (
        "nightly",
        "builds",
        1,
        1,
    )
    assert row.user.email not in {
        row["email"] for row in MEMBERS.answer(atlas.actor(atlas.ada), {})["items"]
    }


def test_service_account_cannot_sign_in(atlas):
    row = account(atlas)
    assert not row.user.has_usable_password()
    # Even if it has a password
    User.objects.filter(id=row.user_id).update(password=atlas.ada.password)
    browser = Client()
    browser.force_login(
        User.objects.get(id=row.user_id),
        backend="allauth.account.auth_backends.AuthenticationBackend",
    )
    assert browser.get("/atlas/teams").status_code == 302
    assert BySession(browser.session.session_key).actor() is None


def test_service_account_operator_violates_constraint(atlas):
    row = account(atlas)
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(id=row.user_id).update(is_operator=True)


def test_service_account_address_is_reserved(atlas):
    row = account(atlas)
    with org_scope(atlas.borealis.id), pytest.raises(InvalidInput):
        add_member(actor=atlas.actor(atlas.cyd), org=atlas.borealis, email=row.user.email)
    assert invite_url(row.user) is None


@each(
    ("role", "who", "may"),
    [
        ("viewer", "admin", True),
        ("admin", "admin", True),
        ("owner", "ada", False),
        ("admin", "ben", False),
        ("member", "ben", False),
    ],
)
def test_service_account_role_is_limited_to_creators(atlas, role, who, may):
    by = {
        "admin": lambda: admin(atlas),
        "ada": lambda: atlas.actor(atlas.ada),
        "ben": lambda: atlas.actor(atlas.ben),
    }[who]()
    if may:
        assert Membership.objects.get(user_id=account(atlas, by, role=role).user_id).role == role
    else:
        with pytest.raises((NotPermitted, InvalidInput)):
            account(atlas, by, role=role)
        assert not User.objects.filter(is_service=True).exists()


def test_service_account_by_narrow_token_is_not_wider(atlas):
    row = account(atlas, role="admin")
    narrow = authenticate_token(
        atlas.token(atlas.ada, scopes=("members:write", "tokens:write"))
    ).enter(atlas.atlas)
    for scopes in (["all"], ["jobs:submit"], ["members:write", "quotas:write"]):
        with pytest.raises(NotPermitted):
            secret(atlas, row, narrow, scopes=scopes)
    assert authenticate_token(
        secret(atlas, row, narrow, scopes=["members:write"])
    ).token.scopes == {"members:write"}


def test_service_account_does_not_escalate_user_admin(atlas):
    add_member(
        actor=atlas.actor(atlas.ada), org=atlas.atlas, email="una@atlas.example", role="user-admin"
    )
    una, powerful = (
        atlas.actor(User.objects.get(email="una@atlas.example")),
        account(atlas, role="admin"),
    )
    raw = secret(atlas, powerful)
    for act in (
        lambda: account(atlas, una, name="mine", role="admin"),
        lambda: secret(atlas, powerful, una),
        lambda: change_service_account(actor=una, account=powerful, role="viewer"),
        lambda: change_service_account(
            actor=una, account=account(atlas, una, name="weak", role="member"), role="admin"
        ),
    ):
        with pytest.raises(NotPermitted):
            act()
    with pytest.raises(NotFound):
        rotate_token(actor=una, token_id=authenticate_token(raw).token.id)


def test_service_account_only_rotates_own_token(atlas):
    row = account(atlas, role="admin")
    raw = secret(atlas, row)
    itself = authenticate_token(raw).enter(atlas.atlas)
    for act in (
        lambda: create_token(actor=itself, org=atlas.atlas, name="more", scopes=["all"]),
        lambda: account(atlas, itself, name="child"),
        lambda: secret(atlas, row, itself),
    ):
        with pytest.raises(NotPermitted):
            act()
    made = rotate_token(actor=itself, token_id=itself.token.id)
    assert authenticate_token(made.secret).user_id == row.user_id


def test_service_account_tokens_are_rotated_by_managers_only(atlas):
    row = account(atlas)
    token = authenticate_token(secret(atlas, row)).token
    with pytest.raises(NotFound):
        rotate_token(actor=atlas.actor(atlas.ben), token_id=token.id)
    assert rotate_token(actor=atlas.actor(atlas.ada), token_id=token.id).row.user_id == row.user_id


def test_service_account_team_token_requires_team_membership(atlas):
    row = account(atlas)
    with pytest.raises(InvalidInput):
        secret(atlas, row, team=atlas.vision)


def test_service_account_is_managed_on_its_own_page_only(atlas):
    row, ada = account(atlas), atlas.actor(atlas.ada)
    for act in (
        lambda: change_member(actor=ada, org=atlas.atlas, email=row.user.email, role="admin"),
        lambda: remove_member(actor=ada, org=atlas.atlas, email=row.user.email),
    ):
        with pytest.raises(NotFound):
            act()


def test_service_account_removed_is_inert_and_name_reserved(atlas):
    row = account(atlas)
    raw = secret(atlas, row)
    remove_service_account(actor=atlas.actor(atlas.ada), account=row)
    assert authenticate_token(raw) is None and listed(atlas) == []
    with pytest.raises(NotFound):
        selectors.service_account("nightly")
    with pytest.raises(Conflict):
        account(atlas)


@each("name", ["", "a", "Nightly", "-x", "x-", "a b", "ä" * 3, "x" * 41])
def test_service_account_name_must_be_slug(atlas, name):
    with pytest.raises(InvalidInput):
        account(atlas, name=name)
