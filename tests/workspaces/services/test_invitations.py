"""Invitations: single use, expiry, the inviter's current permissions, and no account takeover."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.core import mail
from django.test import Client

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from tests.story import PASSWORD
from workspaces.access.permissions import Permission as P
from workspaces.models import Invitation, Membership, Organization, TeamMembership, User
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.invitations import (
    accept,
    claim,
    invite,
    renew_invitation,
    revoke_invitation,
)
from workspaces.organizations.services import (
    add_member,
    create_org,
    remove_member,
    require_second_factor,
)
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

NEW = {
    "name": "Ina",
    "password": "a long password of Ina",
    "password_again": "a long password of Ina",
}


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story


def invited(story, email="ina@else.example", by=None, **more):
    with org_scope(story.atlas.id):
        return invite(actor=by or story.actor(story.ada), org=story.atlas, email=email, **more)


def text_of(made) -> str:
    return made.url.rstrip("/").rpartition("/")[2]


def path_of(made) -> str:
    return re.sub(r"^https?://[^/]+", "", made.url)


def roles(story, email) -> tuple[str, dict[str, str]]:
    with platform_scope("test"):
        role = (
            Membership.objects.filter(org=story.atlas, user__email=email)
            .values_list("role", flat=True)
            .first()
            or ""
        )
        return role, dict(
            TeamMembership.objects.filter(org=story.atlas, user__email=email).values_list(
                "team__slug", "role"
            )
        )


def test_invitation_creates_account_and_membership(story):
    made, browser = invited(story, role="viewer", teams={"vision": "member"}), Client()
    assert b"Join Atlas" in browser.get(path_of(made)).content
    answer = browser.post(path_of(made), NEW)
    assert (answer.status_code, answer["Location"]) == (302, "/atlas/"), answer.content
    assert browser.get("/atlas/teams").status_code == 200
    assert roles(story, "ina@else.example") == ("viewer", {"vision": "member"})
    assert User.objects.get(email="ina@else.example").check_password(NEW["password"])
    assert Event.objects.get(kind="invitation.accepted").actor == "ina@else.example"


def test_invitation_existing_user_signs_in_and_accepts(story):
    made, browser = invited(story, story.cyd.email), Client()
    assert browser.get(path_of(made))["Location"].startswith("/accounts/login/")
    browser.post("/accounts/login/", {"login": story.cyd.email, "password": PASSWORD})
    assert b"Accept" in browser.get(path_of(made)).content
    assert browser.post(path_of(made))["Location"] == "/atlas/"
    assert roles(story, story.cyd.email)[0] == "member"
    assert User.objects.get(id=story.cyd.id).check_password(PASSWORD)


def test_invitation_for_other_address_is_denied(story):
    made, browser = invited(story), story.client(story.cyd)
    assert "This invitation is for" in browser.get(path_of(made)).content.decode()
    browser.post(path_of(made))
    assert roles(story, story.cyd.email)[0] == ""
    with no_scope(), pytest.raises(NotPermitted):
        accept(text=text_of(made), user=story.cyd)


@pytest.mark.both_databases
def test_invitation_link_is_single_use(story):
    made = invited(story)
    Client().post(path_of(made), NEW)
    again = Client()
    assert again.get(path_of(made)).status_code == 404
    assert (
        again.post(
            path_of(made),
            NEW | {"password": "another long one 77", "password_again": "another long one 77"},
        ).status_code
        == 404
    )
    assert User.objects.get(email="ina@else.example").check_password(NEW["password"])


def test_invitation_get_does_not_accept(story):
    made = invited(story)
    for _ in range(3):
        assert Client().get(path_of(made)).status_code == 200
    assert not User.objects.filter(email="ina@else.example").exists()


@each("end", ["expired", "revoked", "renewed", "inviter left", "inviter switched off"])
def test_invitation_invalid_link_is_not_found(atlas, end):
    amy = add_member(
        actor=atlas.actor(atlas.ada), org=atlas.atlas, email="amy@atlas.example", role="admin"
    ).user
    made = invited(atlas, by=atlas.actor(amy))
    at = clock.now()
    if end == "expired":
        at += timedelta(days=7, seconds=1)
    elif end == "revoked":
        revoke_invitation(actor=atlas.actor(atlas.ada), invitation_id=made.row.id)
    elif end == "renewed":
        renew_invitation(actor=atlas.actor(atlas.ada), invitation_id=made.row.id)
    elif end == "inviter left":
        remove_member(actor=atlas.actor(atlas.ada), org=atlas.atlas, email=amy.email)
    else:
        User.objects.filter(id=amy.id).update(is_active=False)
    with no_scope(), clock.frozen(at), pytest.raises((NotFound, NotPermitted)):
        claim(text=text_of(made), name="Ina", password=NEW["password"])
    assert not User.objects.filter(email="ina@else.example").exists()


def test_invitation_renewed_uses_permissions_of_renewer(atlas):
    first = invited(atlas)
    second = renew_invitation(actor=atlas.actor(atlas.ada), invitation_id=first.row.id)
    assert first.url != second.url
    with no_scope():
        claim(text=text_of(second), name="Ina", password=NEW["password"])
    assert roles(atlas, "ina@else.example")[0] == "member"


@each("text", ["", "x", "A" * 43, "../..", "é" * 43, "A" * 43 + "\n"])
def test_invitation_malformed_link_is_not_found(db, text):
    with no_scope(), pytest.raises(NotFound):
        claim(text=text, name="x", password=NEW["password"])


def test_invitation_link_is_not_stored_or_recorded(atlas):
    made = invited(atlas)
    assert text_of(made) not in str(vars(Invitation.objects.get()))
    assert text_of(made) not in str(list(Event.objects.values_list("data", flat=True)))


def test_invitation_role_is_limited_to_inviter(atlas):
    amy = atlas.actor(
        add_member(
            actor=atlas.actor(atlas.ada), org=atlas.atlas, email="amy@atlas.example", role="admin"
        ).user
    )
    with pytest.raises(NotPermitted):
        invited(atlas, by=amy, role="owner")
    owner = invited(atlas, role="owner")
    with pytest.raises(NotPermitted):
        renew_invitation(actor=amy, invitation_id=owner.row.id)
    with pytest.raises(NotPermitted):
        invited(atlas, "o@else.example", by=atlas.actor(atlas.ben))


@each(
    "given",
    [
        {"email": "no address"},
        {"email": "x@atlas.service.invalid"},
        {"role": "king"},
        {"teams": {"moon": "member"}},
        {"teams": {"vision": "king"}},
        {"days": 0},
        {"days": 31},
    ],
)
def test_invitation_invalid_fields_are_rejected(atlas, given):
    with pytest.raises(InvalidInput):
        invited(atlas, **{"email": "ina@else.example"} | given)


def test_invitation_of_member_or_invited_is_conflict(atlas):
    for email in (atlas.ben.email, atlas.ben.email.upper()):
        with pytest.raises(Conflict):
            invited(atlas, email)
    made = invited(atlas)
    with pytest.raises(Conflict):
        invited(atlas, "INA@else.example")
    revoke_invitation(actor=atlas.actor(atlas.ada), invitation_id=made.row.id)
    assert invited(atlas).row.id != made.row.id


@each("password", ["short", "password12345", "ina@else.example"])
def test_invitation_weak_password_creates_no_account(story, password):
    made, browser = invited(story), Client()
    page = browser.post(path_of(made), NEW | {"password": password, "password_again": password})
    assert page.status_code == 200 and b"password" in page.content
    assert not User.objects.filter(email="ina@else.example").exists()
    assert browser.post(path_of(made), NEW)["Location"] == "/atlas/"


def test_invitation_cannot_set_password_of_claimed_account(atlas):
    """Check accounts without a password that sign in elsewhere: an inviter could take them over."""
    User.objects.create_user("sso@else.example", last_login=clock.now())
    with no_scope(), pytest.raises(Conflict):
        claim(text=text_of(invited(atlas, "sso@else.example")), name="x", password=NEW["password"])


def test_invite_url_user_of_other_organization_is_none(atlas):
    fay = add_member(actor=atlas.actor(atlas.ada), org=atlas.atlas, email="fay@atlas.example").user
    assert invite_url(fay)
    with org_scope(atlas.borealis.id):
        again = add_member(
            actor=atlas.actor(atlas.cyd), org=atlas.borealis, email=fay.email, has_agreed=True
        ).user
    assert invite_url(again) is None


def test_invitation_mail_has_same_link(story, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    answer = story.client(story.ada).post(
        "/atlas/invitations",
        {"email": "ina@else.example", "role": "member", "days": "3", "send": "1"},
    )
    [sent] = mail.outbox
    link = re.search(r"https?://\S+/accounts/invitations/\S+/", sent.body)[0]
    assert (
        sent.to == ["ina@else.example"]
        and "Atlas" in sent.subject
        and link in answer.content.decode()
    )
    assert Client().get(re.sub(r"^https?://[^/]+", "", link)).status_code == 200


def test_people_page_invites_all_addresses_or_none(story):
    ada = story.client(story.ada)
    form = {"do": "invite", "role": "member", "team": "vision", "team_role": "member", "days": "7"}
    refused = ada.post("/atlas/people", form | {"email": "ina@else.example, jan", "csrf": "1"})
    assert "&#x27;jan&#x27; is not an email address" in refused.content.decode()
    made = ada.post("/atlas/people", form | {"email": "ina@else.example\njo@else.example, "})
    assert [one["email"] for one in made.context["made"]] == ["ina@else.example", "jo@else.example"]
    rows = story.api(story.ada).get("/api/v1/orgs/atlas/invitations").json()["items"]
    assert [row["teams"] for row in rows] == [{"vision": "member"}] * 2


def test_invitation_survives_mail_failure(story, settings):
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
        "django.core.mail.backends.smtp.EmailBackend",
        "127.0.0.1",
        9,
    )
    made = story.api(story.ada).post(
        "/api/v1/orgs/atlas/invitations",
        {"email": "ina@else.example", "send": True},
        content_type="application/json",
    )
    assert (
        made.status_code == 201
        and made.json()["is_sent"] is False
        and made.json()["sent_at"] is None
    )
    assert Client().get(re.sub(r"^https?://[^/]+", "", made.json()["url"])).status_code == 200


def test_invitations_list_pending_without_link(story):
    made = invited(story, teams={"vision": "lead"})
    [row] = story.api(story.ada).get("/api/v1/orgs/atlas/invitations").json()["items"]
    assert (row["email"], row["teams"], row["is_expired"], row["made_by"]) == (
        "ina@else.example",
        {"vision": "lead"},
        False,
        story.ada.email,
    )
    assert text_of(made) not in str(row) and UUID(row["id"]) == made.row.id


def test_invitation_strict_organization_asks_for_second_factor(story):
    from tests.workspaces.test_second_factor import with_app

    made = invited(story)
    with org_scope(story.atlas.id):
        require_second_factor(
            actor=story.actor(with_app(story.ada)), org=story.atlas, is_required=True
        )
    browser = Client()
    browser.post(path_of(made), NEW)
    assert browser.get("/atlas/teams")["Location"] == "/accounts/2fa/"


def test_invitations_of_two_organizations_are_independent(story):
    made = invited(story)
    with no_scope():
        from workspaces.access.actors import actor_of

        other = create_org(actor=actor_of(story.dot), slug="cirrus", name="Cirrus", owner=story.cyd)
    with org_scope(other.id):
        second = invite(
            actor=story.actor(story.cyd, other),
            org=Organization.objects.get(slug="cirrus"),
            email="ina@else.example",
        )
        assert story.actor(story.cyd, other).may(P.MEMBERS_WRITE)
    browser = Client()
    browser.post(path_of(made), NEW)
    assert browser.post(path_of(second))["Location"] == "/cirrus/"
