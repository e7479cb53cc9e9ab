"""Administration of the installation: new organizations and suspended users."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP

from clusters.backends import ensure_first_cluster
from jobs import services as jobs
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.ids import uuid7
from portal.core.models import Event
from schedulers.spec import parse_mapping
from workspaces.identity.provisioning_services import ProviderPerson, sync_people
from workspaces.lists import ORGANIZATIONS, PEOPLE
from workspaces.models import GroupRule, Membership, Organization, Provider, User
from workspaces.organizations.platform_services import (
    create_org_with_owner,
    reinstate_person,
    remove_second_factors,
    suspend_person,
)
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope


def suspended(story, person, by=None, why="left the company"):
    return suspend_person(
        actor=story.actor(by or story.dot, story.atlas), user_id=person.id, why=why
    )


def test_found_org_with_new_or_existing_owner(story):
    dot = story.actor(story.dot, story.atlas)
    for slug, email in (("new-one", "owner@new.example"), ("other", "BEN@atlas.example")):
        org, owner = create_org_with_owner(actor=dot, slug=slug, name=slug, email=email)
        with org_scope(org.id):
            assert Membership.objects.get().role == "owner" and owner.email == email.lower()
    assert User.objects.filter(email="ben@atlas.example").count() == 1


def test_platform_services_require_operator(story):
    ada = story.actor(story.ada)
    with pytest.raises(NotPermitted):
        create_org_with_owner(actor=ada, slug="mine", name="Mine", email="x@else.example")
    with pytest.raises(NotPermitted):
        suspended(story, story.ben, by=story.ada)
    with pytest.raises(NotPermitted):
        reinstate_person(actor=ada, user_id=story.ben.id)
    assert not User.objects.filter(email="x@else.example").exists()


def test_found_org_rejected_creates_no_account(story):
    with pytest.raises(Conflict):
        create_org_with_owner(
            actor=story.actor(story.dot, story.atlas),
            slug="atlas",
            name="Atlas",
            email="x@else.example",
        )
    assert not User.objects.filter(email="x@else.example").exists()


def test_suspended_user_is_signed_out_and_tokens_fail(story):
    browser, program = story.client(story.ben), story.api(story.ben)
    assert (
        browser.get("/atlas/teams").status_code == 200
        and program.get("/api/v1/orgs/atlas/teams").status_code == 200
    )
    suspended(story, story.ben)
    assert (
        browser.get("/atlas/teams").status_code == 302
        and program.get("/api/v1/orgs/atlas/teams").status_code == 401
    )
    reinstate_person(actor=story.actor(story.dot, story.atlas), user_id=story.ben.id)
    assert browser.get("/atlas/teams").status_code == 302, "an ended session stays ended"
    assert program.get("/api/v1/orgs/atlas/teams").status_code == 200


def test_suspension_requires_reason_and_is_recorded_in_each_org(story):
    for why in ("", "  ", "x" * 201, "a\x1bb"):
        with pytest.raises(InvalidInput):
            suspended(story, story.ben, why=why)
    suspended(story, story.ben)
    events = Event.objects.filter(kind="person.suspended")
    assert {event.org_id for event in events} == {None, story.atlas.id}
    assert {(event.actor, event.data["why"]) for event in events} == {
        ("dot@platform.example", "left the company")
    }


def test_suspension_of_self_twice_or_unknown_is_rejected(story):
    for person, error in ((story.dot, Conflict), (story.ben, None), (story.ben, Conflict)):
        if error is None:
            suspended(story, person)
            continue
        with pytest.raises(error):
            suspended(story, person)
    with pytest.raises(NotFound):
        suspend_person(actor=story.actor(story.dot, story.atlas), user_id=uuid7(), why="x")
    with pytest.raises(Conflict):
        reinstate_person(actor=story.actor(story.dot, story.atlas), user_id=story.ada.id)


def test_organizations_list_has_owners_and_counts(story):
    ensure_first_cluster()
    with org_scope(story.atlas.id):
        jobs.submit_job(
            actor=story.actor(story.ada), team=story.vision, spec=parse_mapping({"run": "true"})
        )
    atlas, borealis = ORGANIZATIONS.answer(story.actor(story.dot), {})["items"]
    assert (atlas["owners"], atlas["people"], atlas["teams"], atlas["jobs"]) == (
        ["ada@atlas.example"],
        2,
        2,
        1,
    )
    assert (borealis["owners"], borealis["jobs"]) == (["cyd@borealis.example"], 0)


def test_people_are_searched_and_paginated(story):
    def people(**asked):
        return PEOPLE.answer(story.actor(story.dot), asked)

    def emails(**asked):
        return [row["email"] for row in people(**asked)["items"]]

    assert emails(q="BOREALIS") == ["cyd@borealis.example"]
    assert emails(q="Ada") == ["ada@atlas.example"]
    assert emails(kind="operators") == ["dot@platform.example"]
    suspended(story, story.ben)
    assert [(row["email"], row["why"]) for row in people(kind="suspended")["items"]] == [
        ("ben@atlas.example", "left the company")
    ]
    for n in range(55):
        User.objects.create_user(f"p{n:03}@else.example")
    first = people(q="else.example")
    second = people(q="else.example", cursor=first["next"])
    assert (len(first["items"]), len(second["items"]), second["next"]) == (50, 5, None)


def test_operator_suspension_survives_directory_sync(story):
    provider = Provider.objects.create(kind="ldap", slug="corp", name="Corp")
    GroupRule.objects.create(
        provider=provider, position=1, group="*", org=story.atlas, role="member"
    )
    one, two = (
        ProviderPerson(
            f"uuid-{n}", f"p{n}@corp.example", f"P {n}", f"p{n}", frozenset({"cn=staff"})
        )
        for n in (1, 2)
    )
    with no_scope():
        sync_people(provider, [one, two])
        sync_people(provider, [two])
        gone = User.objects.get(email="p1@corp.example")
        assert not gone.is_active
        suspended(story, gone)
        sync_people(provider, [one, two])
        assert not User.objects.get(email="p1@corp.example").is_active
        reinstate_person(actor=story.actor(story.dot, story.atlas), user_id=gone.id)
        assert User.objects.get(email="p1@corp.example").is_active


def test_organizations_page_creates_org_and_shows_link_once(story):
    dot = story.client(story.dot)
    page = dot.post(
        "/platform/organizations", {"slug": "fresh", "name": "Fresh", "email": "own@fresh.example"}
    ).content.decode()
    assert (
        "/accounts/password/reset/key/" in page
        and Organization.objects.filter(slug="fresh").exists()
    )
    again = dot.post(
        "/platform/organizations",
        {"slug": "fresh", "name": "<b>Fresh</b>", "email": "own@fresh.example"},
    ).content.decode()
    assert 'data-field="slug"' in again and "already an organization" in again
    with platform_scope("test"):
        assert Membership.objects.filter(user__email="own@fresh.example").count() == 1


def test_operator_sign_out_ends_sessions_and_is_recorded(story):
    browsers = [story.client(story.ben) for _ in range(2)]
    assert [browser.get("/atlas/teams").status_code for browser in browsers] == [200, 200]
    story.client(story.dot).post(f"/platform/people/{story.ben.id}", {"do": "sign_out"})
    assert [browser.get("/atlas/teams").status_code for browser in browsers] == [302, 302]
    assert story.client(story.ben).get("/atlas/teams").status_code == 200
    assert {
        event.org_id for event in Event.objects.filter(kind="person.signed_out", data__sessions=2)
    } == {None, story.atlas.id}


def test_operator_removes_factor_with_reason(story):
    TOTP.activate(story.ben, "A" * 32)
    browser = story.client(story.ben)
    assert browser.get("/atlas/teams").status_code == 200
    there = f"/platform/people/{story.ben.id}"
    operator = story.client(story.dot)
    assert b"Lost second factor" in operator.get(there).content
    operator.post(there, {"do": "take_off_factors", "why": " "})
    assert Authenticator.objects.filter(user=story.ben).exists()
    operator.post(there, {"do": "take_off_factors", "why": "seen in person, with their badge"})
    story.ben.refresh_from_db()
    assert (
        not Authenticator.objects.filter(user=story.ben).exists()
        and not story.ben.has_second_factor
    )
    assert browser.get("/atlas/teams").status_code == 302
    event = Event.objects.get(kind="person.factors_taken_off", org_id=story.atlas.id)
    assert (event.actor, event.data["why"], event.data["before"]) == (
        story.dot.email,
        "seen in person, with their badge",
        {"factors": ["totp"]},
    )
    for actor, person, error in (
        (story.dot, story.ben, Conflict),
        (story.dot, story.dot, Conflict),
        (story.ada, story.ben, NotPermitted),
    ):
        with pytest.raises(error):
            remove_second_factors(
                actor=story.actor(actor, story.atlas), user_id=person.id, why="again"
            )
