"""Whom a provider's word makes, finds or links; and what it does not."""

from __future__ import annotations

from django.test import Client

from portal.core import clock
from tests.each import each
from tests.story import PASSWORD, prove
from tests.workspaces.identity.conftest import go
from workspaces.access.actors import ONLY_ORG
from workspaces.models import Identity, Membership, Provider, TeamMembership, User
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


def test_a_stranger_whom_a_rule_fits_becomes_a_person_with_what_their_groups_give(
    atlas_idp, issuer
):
    issuer.claims["groups"] = ["people", "vision", "cooks"]
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 302 and _roles("eve@atlas.example") == (["member"], ["vision"])
    user = User.objects.get(email="eve@atlas.example")
    assert user.name == "Eve" and not user.has_usable_password() and not user.is_operator
    assert list(Identity.objects.values_list("user", "subject", "groups")) == [
        (user.id, "u-1", ["cooks", "people", "vision"])
    ]


def test_a_stranger_whom_no_rule_fits_is_told_whom_to_ask(atlas_idp, issuer):
    issuer.claims["groups"] = ["cooks"]
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 403 and "sk an administrator" in answer.content.decode()
    assert (
        not User.objects.filter(email="eve@atlas.example").exists()
        and "_auth_user_id" not in client.session
    )


def test_an_address_that_has_an_account_links_nothing_and_the_page_says_how(
    story, atlas_idp, issuer
):
    issuer.claims |= {"groups": ["people"], "email": "ada@atlas.example"}
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 409 and "/accounts/linked/" in answer.content.decode()
    assert not Identity.objects.exists() and "_auth_user_id" not in client.session


def test_groups_are_looked_at_again_at_each_sign_in(atlas_idp, issuer):
    issuer.claims["groups"] = ["people", "vision"]
    _arrive(atlas_idp, issuer)
    issuer.claims["groups"] = ["people"]
    _arrive(atlas_idp, issuer)
    assert _roles("eve@atlas.example") == (["member"], [])


def test_a_provider_that_says_nothing_of_groups_takes_nothing(atlas_idp, issuer):
    issuer.claims["groups"] = ["people", "vision"]
    _arrive(atlas_idp, issuer)
    del issuer.claims["groups"]
    assert _arrive(atlas_idp, issuer)[1].status_code == 302 and _roles("eve@atlas.example") == (
        ["member"],
        ["vision"],
    )


def test_a_known_subject_is_the_same_person_whatever_address_it_says(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client, _ = _arrive(atlas_idp, issuer)
    issuer.claims |= {"email": "ada@atlas.example"}
    again, _ = _arrive(atlas_idp, issuer)
    assert again.session["_auth_user_id"] == client.session["_auth_user_id"] != str(story.ada.id)


@each(
    ("claims", "said"),
    [
        ({"email": None}, "no e-mail address"),
        ({"email": "not an address"}, "no e-mail address"),
        ({"email_verified": False}, "not verified"),
        ({"email": "eve@borealis.example"}, "not an address that"),
    ],
)
def test_a_stranger_without_an_address_that_the_provider_speaks_for_stays_out(
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
def test_an_organizations_provider_without_domains_makes_no_account_and_tells_of_none(
    story, atlas_idp, issuer, email
):
    Provider.objects.filter(id=atlas_idp.id).update(domains=[])
    issuer.claims |= {"groups": ["people"], "email": email}
    client, answer = _arrive(atlas_idp, issuer)
    page = answer.content.decode()
    assert (
        answer.status_code == 409
        and "opens accounts that are linked to it only" in page
        and "/accounts/linked/" in page
    )
    assert not Identity.objects.exists() and "_auth_user_id" not in client.session
    assert User.objects.filter(email=email).exists() == (email == "ada@atlas.example")


def test_a_member_links_their_organizations_provider_without_domains_and_comes_in_by_it(
    story, atlas_idp, issuer
):
    Provider.objects.filter(id=atlas_idp.id).update(domains=[])
    issuer.claims["groups"] = ["people"]
    assert (
        go(story.client(story.ben), atlas_idp, issuer, process="connect").back()["Location"]
        == "/accounts/linked/"
    )
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 302 and client.session["_auth_user_id"] == str(story.ben.id)


def test_an_organizations_provider_opens_that_organization_only_and_no_page_of_the_account(
    story, atlas_idp, issuer
):
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


def test_a_provider_of_the_installation_opens_everything_that_is_ones_own(story, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client, _ = _arrive(house_idp, issuer)
    assert ONLY_ORG not in client.session and client.get("/accounts/linked/").status_code == 200


def test_signing_in_by_password_afterwards_opens_everything_again(story, atlas_idp, issuer):
    client = story.client(story.ben)
    issuer.claims["groups"] = ["people"]
    go(client, atlas_idp, issuer, process="connect").back()
    client.post("/accounts/logout/")
    _arrive(atlas_idp, issuer, client)
    assert ONLY_ORG in client.session
    client.post("/accounts/logout/")
    client.post("/accounts/login/", {"login": story.ben.email, "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(story.ben.id) and ONLY_ORG not in client.session


def test_linking_needs_ones_own_session_and_the_one_that_began(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    assert Client().post("/accounts/sso/atlas-idp/", {"process": "connect"}).status_code == 403
    client = story.client(story.ben)
    trip = go(client, atlas_idp, issuer, process="connect")
    client.force_login(story.ada)
    assert trip.back().status_code in (401, 403) and not Identity.objects.exists()


def test_an_operators_account_is_never_linked_to_an_organizations_provider(
    story, atlas_idp, issuer
):
    issuer.claims["groups"] = ["people"]
    answer = go(story.client(story.dot), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 403 and not Identity.objects.exists()


def test_who_became_an_operator_is_no_longer_let_in_by_an_organizations_provider(
    story, atlas_idp, issuer
):
    issuer.claims["groups"] = ["people"]
    go(story.client(story.ben), atlas_idp, issuer, process="connect").back()
    User.objects.filter(id=story.ben.id).update(is_operator=True)
    client, answer = _arrive(atlas_idp, issuer)
    assert answer.status_code == 403 and "_auth_user_id" not in client.session


def test_what_belongs_to_another_person_cannot_be_linked(story, atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    _arrive(atlas_idp, issuer)
    answer = go(story.client(story.ben), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 409 and Identity.objects.get().user.email == "eve@atlas.example"


def test_a_person_of_another_organization_cannot_link_this_ones_provider(story, atlas_idp, issuer):
    answer = go(story.client(story.cyd), atlas_idp, issuer, process="connect").back()
    assert answer.status_code == 403 and not Identity.objects.exists()


def test_unlinking_is_for_ones_own_and_never_the_last_way_in(story, atlas_idp, issuer):
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
    assert Identity.objects.count() == 1, "they have not said again that it is they"
    prove(client)
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert not Identity.objects.exists()


def test_who_was_switched_off_or_ended_there_stays_out(story, house_idp, issuer):
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


def test_a_person_signed_in_as_another_is_signed_out_first(story, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = story.client(story.cyd)
    _arrive(house_idp, issuer, client)
    assert client.session["_auth_user_id"] == str(User.objects.get(email="eve@atlas.example").id)


def test_who_was_ended_there_does_not_come_back_by_linking(story, atlas_idp, issuer):
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
def test_nobody_unlinks_what_gave_them_their_place_or_could_end_it(
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
    assert (
        f"/accounts/linked/{row.id}/unlink/" not in page
        and "gives and ends your access here" in page
    )
    client.post(f"/accounts/linked/{row.id}/unlink/")
    assert Identity.objects.count() == 1


def test_what_address_the_provider_says_is_known_from_each_sign_in_and_link(
    story, house_idp, issuer
):
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
