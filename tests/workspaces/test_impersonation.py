"""Impersonation: same view as the user, own name in events, and strict limits."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from clusters.backends import ensure_first_cluster
from jobs.models import Job
from portal.core import clock
from portal.core.models import Event
from tests.each import each
from workspaces.credentials.service_accounts import create_service_account
from workspaces.identity.connections import BySession, ended
from workspaces.models import AccessToken, Impersonation, Membership, Secret, SignIn, User
from workspaces.organizations.platform_services import suspend_person
from workspaces.organizations.services import add_member
from workspaces.tasks import tidy
from workspaces.tenancy.scope import org_scope, platform_scope


def begun(story, person, why="sees no jobs", minutes="30", browser=None):
    browser = browser or story.client(story.dot)
    browser.post(f"/platform/people/{person.id}/act", {"why": why, "minutes": minutes})
    return browser


def key_of(browser) -> str:
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def text(browser, path) -> str:
    return browser.get(path).content.decode()


def facts(kind):
    return list(Event.objects.filter(kind=kind).order_by("position"))


def test_impersonation_shows_users_pages_with_banner(story):
    browser = begun(story, story.ben)
    page = text(browser, "/atlas/teams")
    assert (
        "impersonating <strong>ben@atlas.example</strong>" in page
        and "dot@platform.example" in page
        and "/accounts/acting/stop/" in page
    )
    assert browser.get("/borealis/teams").status_code == 404, "Ben does not belong to Borealis"
    assert (
        browser.get("/platform/organizations").status_code == 403
        and browser.get("/atlas/announcements").status_code == 403
    )
    assert "Announcements" not in page
    assert browser.get("/api/v1/me").json()["email"] == "ben@atlas.example"
    assert "impersonating <strong>" in text(browser, "/platform/organizations"), (
        "also on denied pages"
    )


def test_impersonation_events_name_operator_and_user(story):
    ensure_first_cluster()
    story.client(story.ada).post("/atlas/jobs/new", {"team": "vision", "yaml": "run: true"})
    browser = begun(story, story.ada)
    browser.post("/atlas/teams", {"slug": "fresh", "name": "Fresh"})
    browser.post("/api/v1/orgs/atlas/jobs/1/cancel", {}, content_type="application/json")
    for kind in ("team.created", "job.cancel_asked"):
        fact = facts(kind)[-1]
        assert (fact.actor, fact.on_behalf_of, fact.via) == (
            "dot@platform.example",
            "ada@atlas.example",
            "session",
        ), kind


def test_impersonation_cannot_submit_jobs(story):
    ensure_first_cluster()
    story.client(story.ada).post("/atlas/jobs/new", {"team": "vision", "yaml": "run: true"})
    browser, json = begun(story, story.ada), {"content_type": "application/json"}
    page = text(browser, "/atlas/jobs/new")
    assert "so you can't submit jobs in their name" in page and "Join a team" not in page
    tries = [
        browser.post(
            "/api/v1/orgs/atlas/jobs", {"team": "vision", "spec": {"run": "true"}}, **json
        ),
        browser.post("/api/v1/orgs/atlas/jobs/1/rerun", {}, **json),
    ]
    assert [answer.status_code for answer in tries] == [403] * 2
    assert (
        b"only they can do that"
        in browser.post("/atlas/jobs/new", {"team": "vision", "yaml": "run: true"}).content
    )
    with platform_scope("test"):
        assert Job.objects.count() == 1


def test_impersonation_applies_to_api(story):
    browser = begun(story, story.ada)
    answer = browser.post(
        "/api/v1/orgs/atlas/teams", {"slug": "by-api"}, content_type="application/json"
    )
    assert answer.status_code == 201
    assert (facts("team.created")[-1].actor, facts("team.created")[-1].on_behalf_of) == (
        "dot@platform.example",
        "ada@atlas.example",
    )


def test_impersonation_start_and_stop_are_recorded(story):
    browser = begun(story, story.ben)
    browser.post("/accounts/acting/stop/")
    for kind in ("impersonation.began", "impersonation.ended"):
        assert {fact.org_id for fact in facts(kind)} == {None, story.atlas.id}
        assert {(fact.actor, fact.data["name"]) for fact in facts(kind)} == {
            ("dot@platform.example", "ben@atlas.example")
        }
    assert facts("impersonation.began")[0].data["why"] == "sees no jobs"
    assert browser.get(
        "/platform/organizations"
    ).status_code == 200 and "impersonating <strong>" not in text(browser, "/atlas/teams")


@each("by", ["the next request", "the clock"])
def test_impersonation_expiry_is_recorded_once(story, by):
    browser = begun(story, story.ben)
    Impersonation.objects.update(ends_at=clock.now() - timedelta(seconds=1))
    for _ in range(2):
        browser.get("/atlas/teams") if by == "the next request" else tidy()
    events = facts("impersonation.ended")
    assert sorted(str(fact.org_id) for fact in events) == sorted([str(None), str(story.atlas.id)])
    assert {(fact.actor, fact.data["why"]) for fact in events} == {
        ("dot@platform.example", "expired")
    }
    assert Impersonation.objects.get().ended_at == Impersonation.objects.get().ends_at


@each("who", ["ada", "ben"])
def test_impersonation_requires_operator(story, who):
    browser = begun(
        story, story.ben if who == "ada" else story.ada, browser=story.client(getattr(story, who))
    )
    assert not Impersonation.objects.exists()
    assert browser.get("/api/v1/me").json()["email"] == f"{who}@atlas.example"


def test_impersonation_of_ineligible_accounts_is_rejected(story):
    other = User.objects.create_user("don@platform.example", "x", is_operator=True)
    with org_scope(story.atlas.id):
        account = create_service_account(
            actor=story.actor(story.ada), org=story.atlas, name="nightly"
        )
    suspend_person(actor=story.actor(story.dot, story.atlas), user_id=story.cyd.id, why="test")
    for person in (other, story.dot, story.cyd, account.user):
        begun(story, person)
    assert not Impersonation.objects.exists()


@each(
    ("why", "minutes"),
    [("", "30"), ("x" * 201, "30"), ("why", "61"), ("why", "0"), ("why", "-5"), ("why", "many")],
)
def test_impersonation_requires_reason_and_limits_duration(story, why, minutes):
    begun(story, story.ben, why=why, minutes=minutes)
    assert not Impersonation.objects.exists()


def test_impersonation_cannot_be_nested(story):
    with org_scope(story.atlas.id):
        add_member(
            actor=story.actor(story.ada), org=story.atlas, email="amy@atlas.example", role="admin"
        )
    browser = begun(story, story.ada)
    begun(story, story.ben, browser=browser)
    assert Impersonation.objects.count() == 1
    assert browser.get("/api/v1/me").json()["email"] == "ada@atlas.example"


def test_impersonation_rotates_session_key(story):
    browser = story.client(story.dot)
    browser.get("/atlas/teams")
    before = key_of(browser)
    SignIn.objects.filter(key=before).update(
        created_at=SignIn.objects.get(key=before).created_at - timedelta(days=3)
    )
    during = key_of(begun(story, story.ben, browser=browser))
    browser.post("/accounts/acting/stop/")
    after = key_of(browser)
    assert clock.now() - SignIn.objects.get(key=after).created_at > timedelta(days=3), (
        "its age is unchanged"
    )
    assert len({before, during, after}) == 3
    for old in (before, during):
        assert BySession(old).actor() is None, "the old session key is invalid"
    assert BySession(after).actor().email == "dot@platform.example"


def test_impersonation_session_is_listed_for_operator(story):
    browser = begun(story, story.ben)
    browser.get("/atlas/teams")
    assert not SignIn.objects.filter(user=story.ben).exists()
    assert SignIn.objects.filter(user=story.dot, key=key_of(browser)).exists()


@each(
    "path",
    [
        "/accounts/password/change/",
        "/accounts/2fa/",
        "/accounts/2fa/totp/activate/",
        "/accounts/sessions/",
        "/accounts/sso/ways/",
        "/accounts/reauthenticate/",
        "/identity/o/authorize",
        "/api/v1/me/sessions",
    ],
)
def test_impersonation_account_pages_are_denied(story, path):
    browser = begun(story, story.ben)
    for answer in (
        browser.get(path),
        browser.post(
            path, {"password1": "a stolen password 1", "password2": "a stolen password 1"}
        ),
    ):
        assert answer.status_code in (403, 404, 405), path
    assert User.objects.get(id=story.ben.id).check_password("the story's own password")
    assert User.objects.get(id=story.dot.id).check_password("the story's own password")


def test_impersonation_cannot_end_sessions(story):
    story.client(story.ben).get("/atlas/teams")
    browser = begun(story, story.ben)
    assert browser.delete("/api/v1/me/sessions").status_code == 403
    assert SignIn.objects.filter(user=story.ben).count() == 1


def test_impersonation_cannot_write_tokens_or_secrets(story):
    with org_scope(story.atlas.id):
        create_service_account(
            actor=story.actor(story.ada), org=story.atlas, name="nightly", role="member"
        )
    story.token(story.ada)
    with platform_scope("test"):
        old = AccessToken.objects.get()
    browser, json = begun(story, story.ada), {"content_type": "application/json"}
    tries = [
        browser.post("/api/v1/orgs/atlas/tokens", {"name": "mine", "scopes": ["all"]}, **json),
        browser.post(f"/api/v1/orgs/atlas/tokens/{old.id}/rotate", {}, **json),
        browser.delete(f"/api/v1/orgs/atlas/tokens/{old.id}"),
        browser.post(
            "/api/v1/orgs/atlas/service-accounts/nightly/tokens",
            {"name": "ci", "scopes": ["jobs:read"]},
            **json,
        ),
        browser.put("/api/v1/orgs/atlas/secrets/vision/wandb", {"value": "x"}, **json),
    ]
    assert [answer.status_code for answer in tries] == [403] * 5
    browser.post("/atlas/tokens", {"name": "mine", "scopes": "jobs:read"})
    browser.post(
        "/atlas/service-accounts/nightly", {"do": "token", "name": "ci", "scopes": "jobs:read"}
    )
    with platform_scope("test"):
        assert AccessToken.objects.get().revoked_at is None and not Secret.objects.exists()


def test_impersonation_denied_add_member_gives_reason(story):
    browser = begun(story, story.ada)
    for path in ("members", "invitations"):
        answer = browser.post(
            f"/api/v1/orgs/atlas/{path}",
            {"email": "new@atlas.example"},
            content_type="application/json",
        )
        assert (
            answer.status_code == 403
            and "impersonating ada@atlas.example" in answer.content.decode()
        ), path


def test_impersonation_excludes_owner_permissions(story):
    browser, json = begun(story, story.ada), {"content_type": "application/json"}
    assert (
        browser.patch(
            "/api/v1/orgs/atlas/members/ben@atlas.example", {"role": "owner"}, **json
        ).status_code
        == 403
    )
    assert (
        browser.patch("/api/v1/orgs/atlas", {"requires_second_factor": False}, **json).status_code
        == 403
    )
    assert (
        browser.post(
            "/api/v1/orgs/atlas/providers", {"kind": "ldap", "slug": "mine", "options": {}}, **json
        ).status_code
        == 403
    )
    with platform_scope("test"):
        assert Membership.objects.get(user=story.ben).role == "member"


@each("what", ["time", "person", "operator-right", "person-rises", "stopped-elsewhere"])
def test_impersonation_expired_request_is_denied(story, what):
    browser = begun(story, story.ada)
    before = key_of(browser)
    if what == "time":
        Impersonation.objects.update(ends_at=clock.now() - timedelta(seconds=1))
    elif what == "person":
        User.objects.filter(id=story.ada.id).update(is_active=False)
    elif what == "operator-right":
        User.objects.filter(id=story.dot.id).update(is_operator=False)
    elif what == "person-rises":
        User.objects.filter(id=story.ada.id).update(is_operator=True)
    else:
        Impersonation.objects.update(ended_at=clock.now())
    assert browser.post("/atlas/teams", {"slug": "fresh", "name": "Fresh"}).status_code == 403
    assert not facts("team.created") or facts("team.created")[-1].data["name"] != "fresh"
    assert (
        browser.get("/api/v1/me").json()["email"] == "dot@platform.example"
        and key_of(browser) != before
    )


def test_impersonation_ends_with_operator_account(story):
    browser = begun(story, story.ben)
    User.objects.filter(id=story.dot.id).update(is_active=False)
    assert browser.get("/atlas/teams").status_code == 302


def test_impersonation_sign_out_ends_operator_session(story):
    browser = begun(story, story.ben)
    browser.post("/accounts/logout/")
    assert browser.get("/atlas/teams").status_code == 302
    assert not SignIn.objects.filter(key=key_of(browser)).exists()


@each("over", ["time", "person"])
def test_impersonation_end_closes_websockets(story, over):
    way = BySession(key_of(begun(story, story.ben)))
    actor = way.actor()
    assert actor.email == "ben@atlas.example" and actor.acted_by.email == "dot@platform.example"
    assert ended({way: actor}) == set()
    if over == "time":
        Impersonation.objects.update(ends_at=clock.now() - timedelta(seconds=1))
    else:
        User.objects.filter(id=story.ben.id).update(is_active=False)
    assert ended({way: actor}) == {way} and way.actor() is None


def test_impersonation_requires_second_factor_of_operator(story):
    User.objects.filter(id=story.ben.id).update(has_second_factor=True)
    type(story.atlas).objects.filter(id=story.atlas.id).update(requires_second_factor=True)
    browser = story.client(story.dot)
    User.objects.filter(id=story.dot.id).update(has_second_factor=True)
    begun(story, story.ben, browser=browser)
    assert browser.get("/atlas/teams").status_code == 200
    User.objects.filter(id=story.dot.id).update(has_second_factor=False)
    assert browser.get("/atlas/teams").status_code == 302


def test_impersonation_id_in_other_session_is_denied(story):
    begun(story, story.ben)
    row = Impersonation.objects.get()
    for person in (story.ada, story.cyd):
        browser = story.client(person)
        session = browser.session
        session["acts_as"] = str(row.id)
        session.save()
        assert browser.get("/atlas/teams").status_code == 403
