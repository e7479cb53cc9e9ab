"""Accounts that sign-ins by OpenID providers create, find and link."""

from __future__ import annotations

import html

from django.test import Client

from portal.core import clock
from portal.core.models import Event
from tests.each import each
from tests.story import PASSWORD, prove
from tests.workspaces.identity.conftest import go, rule
from workspaces.access.actors import ONLY_ORG
from workspaces.models import GroupRule, Identity, Membership, Provider, TeamMembership, User
from workspaces.tenancy.scope import org_scope, platform_scope


def _arrive(row, issuer, client=None, **form):
    client = client or Client()
    return client, go(client, row, issuer, **form).back()


def _roles(email):
    with platform_scope("test"):
        return (
            [m.role for m in Membership.objects.filter(user__email=email, suspended_at=None)],
            [
                m.team.slug
                for m in TeamMembership.objects.filter(user__email=email).select_related("team")
            ],
        )


def test_sign_in_of_unknown_subject_with_matching_group_creates_account(atlas_idp, issuer):
    issuer.claims["groups"] = ["people", "vision", "cooks"]
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 302 and _roles("eve@atlas.example") == (["member"], ["vision"])
    user = User.objects.get(email="eve@atlas.example")
    assert user.name == "Eve" and not user.has_usable_password() and not user.is_operator
    assert list(Identity.objects.values_list("user", "subject", "groups")) == [
        (user.id, "u-1", ["cooks", "people", "vision"])
    ]


def test_sign_in_without_matching_group_is_refused_with_contact(atlas_idp, issuer):
    issuer.claims["groups"] = ["cooks"]
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 403 and "ontact an administrator" in answer.content.decode()
    assert (
        not User.objects.filter(email="eve@atlas.example").exists()
        and "_auth_user_id" not in client.session
    )


def test_sign_in_with_existing_address_does_not_link_account(story, atlas_idp, issuer):
    issuer.claims |= {"groups": ["people"], "email": "ada@atlas.example"}
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 409 and "/accounts/linked/" in answer.content.decode()
    assert not Identity.objects.exists() and "_auth_user_id" not in client.session


def test_sign_in_with_changed_groups_updates_roles(atlas_idp, issuer):
    issuer.claims["groups"] = ["people", "vision"]
    _arrive(atlas_idp, issuer)
    issuer.claims["groups"] = ["people"]
    _arrive(atlas_idp, issuer)
    assert _roles("eve@atlas.example") == (["member"], [])


def test_sign_in_without_groups_claim_keeps_roles(atlas_idp, issuer):
    issuer.claims["groups"] = ["people", "vision"]
    _arrive(atlas_idp, issuer)
    del issuer.claims["groups"]
    assert _arrive(atlas_idp, issuer)[1].status_code == 302 and _roles("eve@atlas.example") == (
        ["member"],
        ["vision"],
    )


UNKNOWN_GROUPS = {
    "objects": {"groups": [{"value": "people"}]},
    "overage": {"groups": None, "_claim_names": {"groups": "src1"}},
}


@each("claims", UNKNOWN_GROUPS)
def test_sign_in_with_unknown_groups_confirms_no_role_and_says_so(atlas_idp, issuer, claims):
    issuer.claims["groups"] = ["people", "vision"]
    _arrive(atlas_idp, issuer)
    issuer.claims |= UNKNOWN_GROUPS[claims]
    client, answer = _arrive(atlas_idp, issuer)
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 401 and "ask an administrator of Atlas" in page
    assert "_auth_user_id" not in client.session
    assert _roles("eve@atlas.example") == (["member"], ["vision"])
    why = Event.objects.filter(kind="sign_in.refused").latest("id").data["why"]
    assert "eve@atlas.example" in why
    assert why in Provider.objects.get(id=atlas_idp.id).trouble
    issuer.claims = {k: v for k, v in issuer.claims.items() if k != "_claim_names"}
    issuer.claims["groups"] = ["people", "vision"]
    assert _arrive(atlas_idp, issuer)[1].status_code == 302


def test_unknown_groups_do_not_matter_when_no_rule_names_one(story, atlas_idp, issuer):
    GroupRule.objects.filter(provider=atlas_idp).delete()
    rule(atlas_idp, "*", story.atlas)
    issuer.claims |= UNKNOWN_GROUPS["overage"]
    assert _arrive(atlas_idp, issuer)[1].status_code == 302
    assert _roles("eve@atlas.example") == (["member"], [])


def test_unknown_groups_leave_manual_roles_and_grant_nothing(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["admins"]
    go(story.client(story.ben), atlas_idp, issuer, process="connect").back()
    rule(atlas_idp, "admins", story.atlas, role="admin")
    before = _roles(story.ben.email)
    issuer.claims |= UNKNOWN_GROUPS["objects"]
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 302 and client.session["_auth_user_id"] == str(story.ben.id)
    assert _roles(story.ben.email) == before
    assert Event.objects.get(kind="sign_in.groups_unknown").actor == story.ben.email


def test_sign_in_of_known_subject_ignores_changed_address(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client, _ = _arrive(atlas_idp, issuer)
    issuer.claims |= {"email": "ada@atlas.example"}
    again, _ = _arrive(atlas_idp, issuer)
    assert again.session["_auth_user_id"] == client.session["_auth_user_id"] != str(story.ada.id)


@each(
    ("claims", "said"),
    [
        ({"email": None}, "send your e-mail address"),
        ({"email": "not an address"}, "send your e-mail address"),
        ({"email_verified": False}, "verified your address"),
        ({"email": "eve@borealis.example"}, "allowed to sign in"),
    ],
)
def test_sign_in_of_unknown_subject_without_allowed_address_is_refused(
    atlas_idp, issuer, claims, said
):
    truth = {
        "sub": "u-1",
        "email": "eve@atlas.example",
        "email_verified": True,
        "groups": ["people"],
    }
    issuer.claims = truth | claims
    client, answer = _arrive(atlas_idp, issuer)
    assert (
        answer.status_code == 403
        and said in answer.content.decode()
        and not Identity.objects.exists()
    )


@each("email", ["ceo@other.com", "ada@atlas.example"])
def test_org_provider_without_domains_creates_and_reveals_no_account(
    story, atlas_idp, issuer, email
):
    Provider.objects.filter(id=atlas_idp.id).update(domains=[])
    issuer.claims |= {"groups": ["people"], "email": email}
    client, answer = _arrive(atlas_idp, issuer)
    page = answer.content.decode()
    assert (
        answer.status_code == 409
        and "can only sign in to linked accounts" in page
        and "/accounts/linked/" in page
    )
    assert not Identity.objects.exists() and "_auth_user_id" not in client.session
    assert User.objects.filter(email=email).exists() == (email == "ada@atlas.example")


def test_org_provider_without_domains_signs_in_linked_member(story, atlas_idp, issuer):
    Provider.objects.filter(id=atlas_idp.id).update(domains=[])
    issuer.claims["groups"] = ["people"]
    assert (
        go(story.client(story.ben), atlas_idp, issuer, process="connect").back()["Location"]
        == "/accounts/linked/"
    )
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 302 and client.session["_auth_user_id"] == str(story.ben.id)


def test_org_provider_session_is_limited_to_its_organization(story, atlas_idp, issuer):
    client = story.client(story.ben)
    issuer.claims["groups"] = ["people"]
    assert (
        go(client, atlas_idp, issuer, process="connect").back()["Location"] == "/accounts/linked/"
    )
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ben, role="member")
    browser, _ = _arrive(atlas_idp, issuer)
    assert browser.session[ONLY_ORG] == str(story.atlas.id)
    assert (
        browser.get("/atlas/teams").status_code == 200
        and browser.get("/borealis/teams").status_code == 404
    )
    assert {
        browser.get(path).status_code
        for path in ("/accounts/linked/", "/accounts/password/change/", "/accounts/password/set/")
    } == {403}
    assert client.get("/borealis/teams").status_code == 200


def test_installation_provider_session_is_unrestricted(story, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client, _ = _arrive(house_idp, issuer)
    assert ONLY_ORG not in client.session and client.get("/accounts/linked/").status_code == 200


def test_password_sign_in_after_org_provider_lifts_restrictions(story, atlas_idp, issuer):
    client = story.client(story.ben)
    issuer.claims["groups"] = ["people"]
    go(client, atlas_idp, issuer, process="connect").back()
    client.post("/accounts/logout/")
    _arrive(atlas_idp, issuer, client)
    assert ONLY_ORG in client.session
    client.post("/accounts/logout/")
    client.post("/accounts/login/", {"login": story.ben.email, "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(story.ben.id) and ONLY_ORG not in client.session


def test_linking_requires_the_session_that_started_it(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    assert Client().post("/accounts/sso/atlas-idp/", {"process": "connect"}).status_code == 403
    client = story.client(story.ben)
    trip = go(client, atlas_idp, issuer, process="connect")
    client.force_login(story.ada)
    assert trip.back().status_code in (401, 403) and not Identity.objects.exists()


def test_linking_operator_to_org_provider_is_refused(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    answer = go(story.client(story.dot), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 403 and not Identity.objects.exists()


def test_sign_in_of_new_operator_by_org_provider_is_refused(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    go(story.client(story.ben), atlas_idp, issuer, process="connect").back()
    User.objects.filter(id=story.ben.id).update(is_operator=True)
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 403 and "_auth_user_id" not in client.session


def test_linking_identity_of_another_user_is_refused(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    _arrive(atlas_idp, issuer)
    answer = go(story.client(story.ben), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 409 and Identity.objects.get().user.email == "eve@atlas.example"


def test_linking_provider_of_another_organization_is_refused(story, atlas_idp, issuer):
    answer = go(story.client(story.cyd), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 403 and not Identity.objects.exists()


def test_unlinking_requires_owner_password_and_reauthentication(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = story.client(story.ben)
    go(client, atlas_idp, issuer, process="connect").back()
    row = Identity.objects.get()
    assert f"/accounts/linked/{row.id}/unlink/" in client.get("/accounts/linked/").content.decode()
    story.client(story.ada).post(f"/accounts/linked/{row.id}/unlink/")
    User.objects.filter(id=story.ben.id).update(password="!")
    client.force_login(User.objects.get(id=story.ben.id))
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert Identity.objects.count() == 1
    row.user.set_password(PASSWORD)
    row.user.save()
    client.force_login(row.user)
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert Identity.objects.count() == 1, "unlinked without reauthentication"
    prove(client)
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert not Identity.objects.exists()


def test_sign_in_of_deactivated_or_removed_person_is_refused(story, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    _arrive(house_idp, issuer)
    User.objects.filter(email="eve@atlas.example").update(is_active=False)
    assert "_auth_user_id" not in _arrive(house_idp, issuer)[0].session
    User.objects.filter(email="eve@atlas.example").update(is_active=True)
    Identity.objects.update(gone_since=clock.now())
    client, answer = _arrive(house_idp, issuer)
    assert (
        answer.status_code == 403
        and "ended your access" in answer.content.decode()
        and "_auth_user_id" not in client.session
    )


def test_sign_in_as_another_user_replaces_the_session(story, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = story.client(story.cyd)
    _arrive(house_idp, issuer, client)
    assert client.session["_auth_user_id"] == str(User.objects.get(email="eve@atlas.example").id)


def test_linking_again_after_removal_is_refused(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = story.client(story.ben)
    go(client, atlas_idp, issuer, process="connect").back()
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(
            provider=atlas_idp, suspended_at=clock.now()
        )
    Identity.objects.update(gone_since=clock.now())
    answer = go(client, atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 403 and "ended your access" in answer.content.decode()
    assert Identity.objects.get().gone_since and _roles(story.ben.email)[0] == []


@each("bond", ["gone", "member", "suspended", "team", "house"])
def test_unlinking_provider_that_manages_access_is_refused(
    story, atlas_idp, house_idp, issuer, bond
):
    issuer.claims["groups"] = ["people"]
    client = story.client(story.ben)
    go(client, house_idp if bond == "house" else atlas_idp, issuer, process="connect").back()
    with org_scope(story.atlas.id):
        if bond in ("member", "suspended"):
            Membership.objects.filter(user=story.ben).update(
                provider=atlas_idp, suspended_at=clock.now() if bond == "suspended" else None
            )
        if bond == "team":
            TeamMembership.objects.filter(user=story.ben).update(provider=atlas_idp)
    if bond == "gone":
        Identity.objects.update(gone_since=clock.now())
    row = Identity.objects.get()
    page = client.get("/accounts/linked/").content.decode()
    assert f"/accounts/linked/{row.id}/unlink/" not in page and "manages your access here" in page
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert Identity.objects.count() == 1


def test_sign_in_and_linking_store_the_providers_address(story, house_idp, issuer):
    def said():
        return Identity.objects.values_list("email", flat=True).get()

    issuer.claims |= {"groups": ["people"], "email": "other@atlas.example"}
    go(story.client(story.ben), house_idp, issuer, process="connect").back()
    assert said() == "other@atlas.example"
    for email, is_verified, known in (
        (story.ben.email, True, story.ben.email),
        (story.ben.email, False, ""),
    ):
        issuer.claims |= {"email": email, "email_verified": is_verified}
        _arrive(house_idp, issuer)
        assert said() == known and User.objects.get(id=story.ben.id).email == "ben@atlas.example"
