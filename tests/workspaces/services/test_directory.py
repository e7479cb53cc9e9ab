"""Provisioning from a provider, at sign-in and by a sync."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core.errors import Conflict, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.access.actors import actor_of
from workspaces.access.permissions import TeamRole
from workspaces.identity.provisioning_services import ProviderPerson, admit, sync_people
from workspaces.models import (
    AccessToken,
    GroupRule,
    Identity,
    Membership,
    Provider,
    TeamMembership,
    User,
)
from workspaces.tenancy.scope import no_scope, platform_scope

STAFF, LEADS = "cn=staff", "cn=leads"


@pytest.fixture
def provider(story):
    made = Provider.objects.create(
        kind="ldap", slug="corp", name="Corp", org=story.atlas, domains=["corp.example"]
    )
    GroupRule.objects.create(provider=made, position=1, group=STAFF, org=story.atlas, role="member")
    GroupRule.objects.create(
        provider=made,
        position=2,
        group=LEADS,
        org=story.atlas,
        team=story.vision,
        role=TeamRole.LEAD,
    )
    with no_scope():
        yield made


def person(number: int, *groups: str) -> ProviderPerson:
    return ProviderPerson(
        f"uuid-{number:05}",
        f"p{number}@corp.example",
        f"Person {number}",
        f"p{number}",
        frozenset(groups or {STAFF}),
    )


def seats(user):
    with platform_scope("test"):
        org = list(Membership.objects.filter(user=user).values_list("role", "via", "suspended_at"))
        teams = dict(TeamMembership.objects.filter(user=user).values_list("team__slug", "role"))
    return org, teams


def test_first_sign_in_creates_account_with_group_roles(story, provider):
    user = admit(provider, person(1, STAFF, LEADS))
    assert (user.email, user.name, user.has_usable_password()) == (
        "p1@corp.example",
        "Person 1",
        False,
    )
    assert seats(user) == ([("member", STAFF, None)], {"vision": "lead"})
    kinds = list(Event.objects.filter(actor="directory corp").values_list("kind", flat=True))
    assert kinds == ["person.created", "member.added", "team_member.added"]


def test_repeated_sign_in_writes_nothing(story, provider):
    admit(provider, person(1))
    with CaptureQueriesContext(connection) as queries:
        admit(provider, person(1))
    assert not [q["sql"] for q in queries if not q["sql"].lstrip("( ").upper().startswith("SELECT")]


def test_sign_in_after_leaving_group_removes_team_and_tokens(story, provider):
    user = admit(provider, person(1, STAFF, LEADS))
    with platform_scope("test"):
        token = AccessToken.objects.create(
            org=story.atlas, team=story.vision, user=user, name="t", digest="d", hint="h"
        )
    admit(provider, person(1, STAFF))
    with platform_scope("test"):
        token.refresh_from_db()
    assert seats(user)[1] == {} and token.revoked_at
    last = Event.objects.filter(kind="team_member.removed").get()
    assert (last.data["before"], last.data["after"], last.data["via"]) == ("lead", None, LEADS)


def test_sign_in_same_address_does_not_take_over_account(story, provider):
    with pytest.raises(Conflict, match="link"):
        admit(provider, ProviderPerson("evil", story.dot.email, groups=frozenset({STAFF})))
    assert not Identity.objects.exists()


def test_sign_in_without_matching_rule_creates_no_account(story, provider):
    with pytest.raises(NotPermitted, match="none of your groups"):
        admit(provider, person(1, "cn=visitors"))
    assert not User.objects.filter(email="p1@corp.example").exists()


def test_sync_creates_users_and_is_idempotent(story, provider):
    people = [person(n) for n in range(1200)]
    assert sync_people(provider, people).is_done
    assert members_of(provider) == 1200
    with CaptureQueriesContext(connection) as queries:
        again = sync_people(provider, people)
    assert again.is_done and again.plan.is_empty and len(queries) < 20
    assert all(q["sql"].lstrip("( ").upper().startswith("SELECT") for q in queries)


def test_sync_missing_user_is_suspended_and_restored(story, provider):
    people = [person(n, STAFF, LEADS) for n in range(10)]
    sync_people(provider, people)
    gone = User.objects.get(email="p9@corp.example")
    assert sync_people(provider, people[:9]).is_done
    org, teams = seats(gone)
    assert org[0][2] is not None and teams == {"vision": "lead"}
    with pytest.raises(NotFound):
        actor_of(gone).enter(story.atlas)
    sync_people(provider, people)
    assert actor_of(gone).enter(story.atlas).team_roles
    kinds = list(
        Event.objects.filter(subject_id=gone.id, kind__startswith="member.").values_list(
            "kind", flat=True
        )
    )
    assert kinds == ["member.added", "member.suspended", "member.restored"]


def test_sync_empty_answer_stops_until_accepted(story, provider):
    sync_people(provider, [person(n) for n in range(10)])
    stopped = sync_people(provider, [])
    assert not stopped.is_done and "10 of the 10" in stopped.objection
    assert not any(
        seats(user)[0][0][2] for user in User.objects.filter(email__endswith="@corp.example")
    )
    assert sync_people(provider, [], accepted=stopped.plan.losses).is_done
    assert all(
        seats(user)[0][0][2] for user in User.objects.filter(email__endswith="@corp.example")
    )


def test_sync_changed_address_updates_identity_not_account(story, provider):
    sync_people(provider, [person(1)])
    moved = ProviderPerson("uuid-00001", "moved@corp.example", "Person 1", "p1", frozenset({STAFF}))
    assert sync_people(provider, [moved]).is_done and sync_people(provider, [moved]).plan.is_empty
    row = Identity.objects.select_related("user").get()
    assert (row.email, row.user.email) == ("moved@corp.example", "p1@corp.example")


def test_sync_org_provider_creates_accounts_in_its_domains_only(story, provider):
    provider.domains = ["corp.example"]
    there = ProviderPerson("uuid-x", "boss@borealis.example", groups=frozenset({STAFF}))
    made = sync_people(provider, [person(1), there]).plan
    assert [
        (clash.person, "not assigned to this provider" in clash.why) for clash in made.clashes
    ] == [(there, True)]
    assert (
        not User.objects.filter(email=there.email).exists()
        and User.objects.filter(email="p1@corp.example").exists()
    )


def test_sync_org_provider_without_domains_creates_no_account(story, provider):
    known = admit(provider, person(1))
    provider.domains = []
    assert admit(provider, person(1, STAFF, LEADS)) == known and seats(known)[1] == {
        "vision": "lead"
    }
    made = sync_people(
        provider,
        [
            person(1, STAFF, LEADS),
            ProviderPerson("uuid-x", "ceo@other.com", groups=frozenset({STAFF})),
        ],
    ).plan
    assert [clash.why for clash in made.clashes] == [
        (
            "has the address ceo@other.com, and this provider has no e-mail domains assigned, so it "
            "can't create accounts"
        )
    ]
    assert not User.objects.filter(email="ceo@other.com").exists()


def test_sync_dry_run_plans_without_writing(story, provider):
    before = Event.objects.count()
    planned = sync_people(provider, [person(1)], is_dry=True)
    assert (
        len(planned.plan.newcomers) == 1 and not planned.is_done and Event.objects.count() == before
    )
    assert not User.objects.filter(email="p1@corp.example").exists()


def test_sync_missing_user_keeps_roles_given_by_hand(story, provider):
    user = admit(provider, person(1))
    with platform_scope("test"):
        Membership.objects.filter(user=user).update(provider=None, via="", role="admin")
    sync_people(provider, [person(2), person(3), person(1, "cn=visitors")])
    sync_people(provider, [person(2), person(3)])
    assert seats(user)[0] == [("admin", "", None)]


def test_sync_installation_disables_missing_users_but_last_owner(story):
    with no_scope():
        wide = Provider.objects.create(kind="ldap", slug="wide", name="Wide")
        GroupRule.objects.create(
            provider=wide, position=1, group="*", org=story.borealis, role="member"
        )
        Identity.objects.create(provider=wide, subject="cyd", user=story.cyd)
        people = [person(n) for n in range(9)]
        sync_people(wide, [*people, ProviderPerson("cyd", story.cyd.email, groups=frozenset())])
        made = sync_people(wide, people[:8]).plan
    assert [k.email for k in made.off] == ["p8@corp.example"] and made.spared[0][0] == story.cyd.id
    assert (
        not User.objects.get(email="p8@corp.example").is_active
        and User.objects.get(id=story.cyd.id).is_active
    )


def members_of(provider) -> int:
    with platform_scope("test"):
        return Membership.objects.filter(provider=provider).count()


def _renamed(provider) -> str:
    admit(provider, person(1))
    sync_people(
        provider,
        [
            ProviderPerson(
                "uuid-00001", "p1@corp.example", "Dr. Person  1", "p1", frozenset({STAFF})
            )
        ],
    )
    return User.objects.get(email="p1@corp.example").name


def test_sync_changed_name_is_updated_and_recorded_once(story, provider):
    assert _renamed(provider) == "Dr. Person 1"
    [event] = Event.objects.filter(kind="person.renamed")
    assert (event.org_id, event.data["before"], event.data["after"]) == (
        story.atlas.id,
        {"name": "Person 1"},
        {"name": "Dr. Person 1"},
    )
    admit(
        provider,
        ProviderPerson("uuid-00001", "p1@corp.example", "Dr. Person 1", "p1", frozenset({STAFF})),
    )
    admit(provider, ProviderPerson("uuid-00001", "p1@corp.example", "", "p1", frozenset({STAFF})))
    assert Event.objects.filter(kind="person.renamed").count() == 1


@each("bond", ["a password", "another organization"])
def test_sync_org_provider_does_not_rename_shared_accounts(story, provider, bond):
    provider.refresh_from_db()
    user = admit(provider, person(1))
    if bond == "a password":
        user.set_password("a long password of theirs")
        user.save()
    else:
        with platform_scope("test"):
            Membership.objects.create(org=story.borealis, user=user, role="member")
    assert _renamed(provider) == "Person 1"
    Provider.objects.filter(id=provider.id).update(org=None)
    provider.refresh_from_db()
    assert _renamed(provider) == "Dr. Person 1", "directories of the installation may rename"


def test_sync_dry_or_stopped_run_renames_nobody(story, provider):
    sync_people(provider, [person(n) for n in range(20)])
    other = ProviderPerson("uuid-00001", "p1@corp.example", "Mallory", "p1", frozenset({STAFF}))
    sync_people(provider, [other, *(person(n) for n in range(20) if n != 1)], is_dry=True)
    assert (
        sync_people(provider, [other]).objection
        and not User.objects.filter(name="Mallory").exists()
    )
