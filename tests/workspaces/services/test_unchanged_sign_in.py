"""Sign-ins without changes are detected in few queries, and only those."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core import clock
from tests.each import each
from workspaces.identity.provisioned_person import unchanged
from workspaces.identity.provisioning_services import Person, admit, plan_of
from workspaces.models import GroupRule, Identity, Membership, Provider, TeamMembership, User
from workspaces.tenancy.scope import no_scope, platform_scope

STAFF, LEADS = "cn=staff", "cn=leads"
PAT = Person("uuid-1", "pat@corp.example", "Pat", "pat", frozenset({STAFF, LEADS}))


@pytest.fixture(params=["atlas", None], ids=["an organization's own", "of the installation"])
def provider(story, request) -> Provider:
    """A provider that knows Pat, who is in both groups and has signed in before."""
    made = Provider.objects.create(
        kind="ldap",
        slug="corp",
        name="Corp",
        org=story.atlas if request.param else None,
        domains=["corp.example"],
    )
    GroupRule.objects.create(
        provider=made, position=1, group=LEADS, org=story.atlas, team=story.vision, role="lead"
    )
    GroupRule.objects.create(provider=made, position=2, group="*", org=story.atlas, role="member")
    GroupRule.objects.create(
        provider=made, position=3, group=STAFF, org=story.borealis, role="member"
    )
    with no_scope():
        admit(made, PAT)
    return made


def agree(provider: Provider, person: Person = PAT) -> bool:
    """Return whether nothing would change, after comparing the quick check with the full plan."""
    with platform_scope("test"):
        found = unchanged(provider, person)
        assert (found is not None) == (
            plan_of(provider, [person]).is_empty
            and Identity.objects.filter(subject=person.subject).exists()
        )
    assert found is None or (found.user.email, found.user.name, found.provider) == (
        PAT.email,
        PAT.name,
        provider,
    )
    return found is not None


def test_unchanged_sign_in_takes_four_queries(provider):
    with CaptureQueriesContext(connection) as queries:
        admit(provider, PAT)
    assert len(queries) == 4 and agree(provider)


def set_member(**values) -> None:
    Membership.objects.filter(user__email=PAT.email).update(**values)


CHANGES = {
    "a role was changed by hand": lambda: set_member(role="admin"),
    "a group is called otherwise": lambda: set_member(via="cn=other"),
    "a role was suspended": lambda: set_member(suspended_at=clock.now()),
    "a role is by hand now": lambda: set_member(provider=None),
    "a role was taken by hand": lambda: Membership.objects.filter(user__email=PAT.email).delete(),
    "a team was left by hand": lambda: TeamMembership.objects.all().delete(),
    "a rule is gone": lambda: GroupRule.objects.filter(position=1).delete(),
    "a rule gives another role": lambda: GroupRule.objects.filter(position=2).update(role="viewer"),
    "a rule of nobody came first": lambda: GroupRule.objects.filter(position=1).update(
        group="cn=nobody"
    ),
    "it had lost them": lambda: Identity.objects.update(gone_since=clock.now()),
    "it knew another address": lambda: Identity.objects.update(email="before@corp.example"),
    "it knew another name to sign in by": lambda: Identity.objects.update(login="before"),
    "it knew other groups": lambda: Identity.objects.update(groups=[STAFF]),
    "they are not known": lambda: Identity.objects.all().delete(),
    "they were switched off and lost": lambda: (
        User.objects.filter(email=PAT.email).update(is_active=False),
        Identity.objects.update(gone_since=clock.now()),
    ),
}


@each("change", CHANGES)
def test_changed_sign_in_is_detected_like_plan(provider, change):
    with platform_scope("test"):
        CHANGES[change]()
    agree(provider)


SEEN = {
    "a role was suspended",
    "a role was taken by hand",
    "a team was left by hand",
    "a rule is gone",
    "it had lost them",
    "they are not known",
}


@each("change", sorted(SEEN))
def test_sign_in_with_gain_or_loss_is_never_skipped(provider, change):
    with platform_scope("test"):
        CHANGES[change]()
    assert not agree(provider)


@each(
    "groups",
    [set(), {STAFF}, {LEADS}, {STAFF, LEADS, "cn=third"}, {f"cn=group-{n}" for n in range(700)}],
)
def test_sign_in_with_other_groups_is_change(provider, groups):
    assert not agree(
        provider, Person(PAT.subject, PAT.email, PAT.name, PAT.login, frozenset(groups))
    )
