"""First steps: each completes itself; shown to owners and operators until done or dismissed."""

from __future__ import annotations

import pytest

from clusters.backends import ensure_first_cluster
from clusters.models import Cluster, Pool
from jobs import services as jobs
from jobs.models import Job
from jobs.selectors.first_steps import steps_of
from portal.core.errors import InvalidInput
from portal.core.models import Event
from schedulers.spec import parse_mapping
from schedulers.states import State
from workspaces.models import GroupRule, Membership, Organization, Provider, Team
from workspaces.organizations import bootstrap
from workspaces.organizations import services as organization_services
from workspaces.quotas import set_limits
from workspaces.tenancy.scope import org_scope, platform_scope

HOME = 'id="guide"'


def done(org) -> set[str]:
    with org_scope(org.id):
        return {step.key for step in steps_of(Organization.objects.get(id=org.id)) if step.is_done}


@pytest.fixture
def fresh(db):
    """Return a fresh installation."""
    bootstrap.bootstrap()
    org = Organization.objects.get(slug="home")
    with org_scope(org.id):
        yield org


def test_fresh_installation_has_no_step_done(fresh):
    assert done(fresh) == set()


def test_each_step_completes_itself_and_no_other(fresh):
    from workspaces.access.actors import actor_of

    owner = actor_of(Membership.objects.get().user).enter(fresh)
    ticked = set()

    def now(key):
        ticked.add(key)
        assert done(fresh) == ticked

    organization_services.rename_org(actor=owner, org=fresh, name="Example AG")
    now("named")
    with platform_scope("a directory of the installation"):
        provider = Provider.objects.create(kind="ldap", slug="corp", name="Corp")
    now("people-from")
    GroupRule.objects.create(provider=provider, position=1, group="*", org=fresh, role="member")
    now("groups")
    organization_services.add_member(actor=owner, org=fresh, email="ina@else.example")
    now("people")
    team = organization_services.create_team(actor=owner, org=fresh, slug="vision")
    now("team")
    set_limits.set_quota(
        actor=owner, org=fresh, scope="team", subject="vision", resource="gpu", limit=8
    )
    now("quotas")
    ensure_first_cluster()
    Pool.objects.update(is_open=False)
    now("cluster")
    Pool.objects.create(name="all", cluster=Cluster.objects.first(), is_open=True)
    now("pool")
    owner = actor_of(Membership.objects.order_by("created_at").first().user).enter(fresh)
    jobs.submit_job(actor=owner, team=team, spec=parse_mapping({"run": "true"}))
    assert done(fresh) == ticked
    Job.objects.update(state=State.SUCCEEDED)
    now("job")
    assert len(steps_of(fresh)) == len(ticked)


def test_guide_is_shown_to_owners_and_operators_and_never_to_members(story):
    assert HOME in story.client(story.ada).get("/atlas/").content.decode()
    assert HOME in story.client(story.dot).get("/atlas/").content.decode()
    assert HOME not in story.client(story.ben).get("/atlas/").content.decode()
    assert story.client(story.ben).get("/atlas/guide").status_code == 403


def test_owner_sees_which_steps_need_an_operator(story):
    page = story.client(story.ada).get("/atlas/guide").content.decode()
    assert (
        page.count("Only a platform operator can do this") == 2
        and 'href="/platform/clusters"' not in page.partition('<ol class="guide">')[2]
    )
    page = story.client(story.dot).get("/atlas/guide").content.decode()
    assert "Only a platform operator can do this" not in page


def test_dismissed_guide_stays_hidden_until_restored(story):
    ada = story.client(story.ada)
    ada.post("/atlas/guide", {"do": "hide"})
    assert (
        HOME not in ada.get("/atlas/").content.decode()
        and ada.get("/atlas/guide").status_code == 200
    )
    assert HOME in story.client(story.cyd).get("/borealis/").content.decode(), (
        "another organization's is its own"
    )
    ada.post("/atlas/guide", {"do": "show"})
    assert HOME in ada.get("/atlas/").content.decode()
    kinds = list(
        Event.objects.filter(kind__startswith="org.guide")
        .order_by("position")
        .values_list("kind", flat=True)
    )
    assert kinds == ["org.guide_put_away", "org.guide_shown"]


def test_organization_name_is_validated_and_the_address_stays(story):
    for name in ("", "x" * 101, "a\x00b"):
        with pytest.raises(InvalidInput):
            organization_services.rename_org(
                actor=story.actor(story.ada), org=story.atlas, name=name
            )
    organization_services.rename_org(
        actor=story.actor(story.ada),
        org=Organization.objects.get(slug="atlas"),
        name="<b>Atlas</b>",
    )
    page = story.client(story.ben).get("/atlas/teams").content.decode()
    assert "&lt;b&gt;Atlas&lt;/b&gt;" in page and "<b>Atlas</b>" not in page
    with org_scope(story.atlas.id):
        assert Team.objects.filter(slug="vision").exists()
