"""Sign-in with a directory password, through the page and a real slapd."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from portal.core.models import Event
from tests.each import each
from tests.rig.processes import free_port
from tests.rig.slapd import AD, password_of
from tests.story import PASSWORD, prove
from workspaces.access.actors import ONLY_ORG, actor_of
from workspaces.identity.auth_backend import directories_for
from workspaces.identity.provider_services import set_rules, update_provider
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope


def sign_in(login, password, **more):
    client = Client()
    return client, client.post("/accounts/login/", {"login": login, "password": password, **more})


def is_in(client) -> bool:
    return "_auth_user_id" in client.session


@each("login", ["ada", "ada@corp.example"])
def test_directory_sign_in_grants_roles_of_groups(story, wide, login):
    client, _ = sign_in(login, password_of("ada"))
    assert is_in(client) and client.get("/atlas/teams").status_code == 200
    ada = User.objects.get(email="ada@corp.example")
    actor = actor_of(ada).enter(story.atlas)
    assert actor.org_role == "member" and actor.team_roles == {story.vision.id: "lead"}
    assert ONLY_ORG not in client.session and not ada.has_usable_password()


def test_sign_in_event_names_directory_or_password(story, wide):
    sign_in("ada", password_of("ada"))
    sign_in(story.ben.email, PASSWORD)
    events = Event.objects.filter(kind="sign_in.succeeded", org_id=story.atlas.id).order_by(
        "position"
    )
    assert [(fact.actor, fact.data["by"]) for fact in events] == [
        ("ada@corp.example", "LDAP (corp)"),
        (story.ben.email, "password"),
    ]


@each(
    ("login", "password"),
    [
        ("ada", "wrong"),
        ("ada", ""),
        ("ada", " "),
        ("", "x"),
        ("nobody", "x"),
        ("ada)(uid=*", password_of("ada")),
        ("*", password_of("ada")),
    ],
)
def test_directory_sign_in_with_wrong_credentials_is_rejected(wide, login, password):
    client, answer = sign_in(login, password)
    assert not is_in(client) and answer.status_code == 200


def test_directory_password_is_neither_stored_nor_logged(wide, caplog):
    sign_in("ada", password_of("ada"))
    sign_in("ada", "another secret text")
    stored = (
        str(list(User.objects.values()))
        + str(list(Identity.objects.values()))
        + str(list(Provider.objects.values("trouble", "config")))
    )
    assert (
        password_of("ada") not in stored + caplog.text
        and "another secret text" not in stored + caplog.text
    )


def test_org_directory_session_opens_only_its_organization(story, own):
    client, _ = sign_in("ada", password_of("ada"), directory="atlas-own")
    assert is_in(client) and client.session[ONLY_ORG] == str(story.atlas.id)
    ada = User.objects.get(email="ada@corp.example")
    with platform_scope("test"):
        Membership.objects.create(org=story.borealis, user=ada, role="owner")
    assert (
        client.get("/atlas/teams").status_code == 200
        and client.get("/borealis/teams").status_code == 404
    )


def test_org_directory_without_domain_is_not_asked_unless_chosen(story, own, slapd):
    Provider.objects.filter(id=own.id).update(domains=[])
    own.refresh_from_db()
    assert directories_for("ada@corp.example") == [] and directories_for("ada") == []
    assert not is_in(sign_in("ada@corp.example", password_of("ada"))[0])
    with org_scope(story.atlas.id), pytest.raises(Exception, match="operator"):
        update_provider(actor=story.actor(story.ada), provider=own, domains=["corp.example"])
    with org_scope(story.atlas.id):
        update_provider(actor=story.actor(story.dot), provider=own, domains=["corp.example"])
    assert is_in(sign_in("ada@corp.example", password_of("ada"))[0])
    assert directories_for("ada@elsewhere.example") == []


def test_directory_sign_in_without_matching_group_is_refused(wide):
    client, answer = sign_in("eve", password_of("eve"))
    assert not is_in(client) and "none of your groups" in answer.content.decode()
    assert not User.objects.filter(email="eve@corp.example").exists()


def test_directory_sign_in_does_not_take_over_existing_account(story, wide, slapd):
    User.objects.create_user("bob@corp.example", PASSWORD)
    client, answer = sign_in("bob", password_of("bob"))
    assert not is_in(client) and "link" in answer.content.decode()
    assert is_in(sign_in("bob@corp.example", PASSWORD)[0])


@pytest.fixture
def down(wide):
    """Point the directory at a port where nothing listens."""
    with no_scope():
        Provider.objects.filter(id=wide.id).update(
            config=wide.config | {"url": f"ldap://127.0.0.1:{free_port()}"}
        )
    return wide


def test_sign_in_while_directory_is_down_reports_it_in_time(down):
    start = time.monotonic()
    client, answer = sign_in("ada", password_of("ada"))
    assert (
        not is_in(client)
        and "Corp does not respond" in answer.content.decode()
        and time.monotonic() - start < 5
    )
    down.refresh_from_db()
    assert down.trouble and down.trouble_since


def test_local_password_while_directory_is_down_works_at_once(story, down):
    start = time.monotonic()
    client, _ = sign_in(story.dot.email, PASSWORD)
    assert is_in(client) and time.monotonic() - start < 2


def test_session_while_directory_is_down_stays_valid(story, wide):
    client, _ = sign_in("ada", password_of("ada"))
    with no_scope():
        Provider.objects.filter(id=wide.id).update(
            config=wide.config | {"url": "ldap://127.0.0.1:1"}
        )
    assert client.get("/atlas/teams").status_code == 200


def test_directory_sign_in_of_deactivated_account_is_refused(wide):
    sign_in("ada", password_of("ada"))
    User.objects.filter(email="ada@corp.example").update(is_active=False)
    assert not is_in(sign_in("ada", password_of("ada"))[0])


def test_sign_in_to_an_account_disabled_in_the_directory_ends_its_sessions(story, slapd):
    made = Provider.objects.create(kind="ldap", slug="ad", name="AD", config={})
    with no_scope():
        update_provider(actor=actor_of(story.dot), provider=made, options=slapd.ad_options())
        rules = [{"group": "*", "org": "atlas", "role": "member"}]
        set_rules(actor=actor_of(story.dot), provider=made, rules=rules)
    dn = f"cn=Anna Ader,ou=Staff,{AD}"
    session, _ = sign_in("anna", password_of("anna"))
    assert session.get("/atlas/teams").status_code == 200
    try:
        slapd.change(dn, userAccountControl="514")
        assert session.get("/atlas/teams").status_code == 200  # nobody has asked the directory
        assert not is_in(sign_in("otto", "a stranger's guess")[0])  # unknown here
        assert not is_in(sign_in("anna", "a stranger's guess")[0])
        assert session.get("/atlas/teams").status_code == 302
        assert Identity.objects.get(provider=made).gone_since
    finally:
        slapd.change(dn, userAccountControl="512")
    assert is_in(sign_in("anna", password_of("anna"))[0])  # as after a sync that finds her again


def test_disabled_directory_is_not_asked(wide):
    Provider.objects.filter(id=wide.id).update(is_enabled=False)
    assert not is_in(sign_in("ada", password_of("ada"))[0])


def test_directory_password_guessing_is_rate_limited(wide):
    client = Client()
    for number in range(6):
        answer = client.post("/accounts/login/", {"login": "ada", "password": f"guess {number}"})
    assert answer.status_code == 429 or "Too many" in answer.content.decode()


def test_directory_of_another_organization_gets_no_password(story, own, slapd, monkeypatch):
    """Nothing is preselected, and Borealis cannot get a domain assigned to Atlas."""
    theirs = Provider.objects.create(
        org=story.borealis,
        kind="ldap",
        slug="theirs",
        name="Theirs",
        config=own.config,
        secrets=own.secrets,
    )
    page = Client().get("/accounts/login/?next=/borealis/").content.decode()
    assert (
        '<option value="theirs">' in page
        and "selected" not in page.partition('name="directory"')[2].partition("</select>")[0]
    )
    assert directories_for("ada@corp.example", "theirs") == [] and directories_for(
        "ada@corp.example"
    ) == [own]
    assert (
        directories_for("zoe@nobody.example", "theirs") == [theirs]
        and directories_for("zoe@nobody.example") == []
    )
    Identity.objects.create(
        provider=theirs, subject="1", user=User.objects.create_user("ada@corp.example", PASSWORD)
    )
    assert directories_for("ada@corp.example", "theirs") == [theirs]


def test_organization_sign_in_page_offers_its_directory(own):
    page = Client().get("/accounts/login/?next=/atlas/teams").content.decode()
    assert '<option value="atlas-own">' in page
    assert "atlas-own" not in Client().get("/accounts/login/").content.decode()
    assert "atlas-own" not in Client().get("/accounts/login/?next=/borealis/").content.decode()


def test_linked_directory_account_signs_in(story, own, slapd):
    with org_scope(story.atlas.id):
        bob = User.objects.create_user("bob@corp.example", PASSWORD)
        Membership.objects.create(org=story.atlas, user=bob, role="admin")
    client = story.client(bob)
    prove(client)
    assert "Link Atlas" in client.get("/accounts/linked/").content.decode()
    client.post("/accounts/linked/atlas-own/", {"login": "bob", "password": "wrong"})
    client.post("/accounts/linked/atlas-own/", {"login": "bob", "password": ""})
    assert not Identity.objects.exists()
    client.post("/accounts/linked/atlas-own/", {"login": "bob", "password": password_of("bob")})
    assert Identity.objects.get().user == bob
    there, _ = sign_in("bob", password_of("bob"), directory="atlas-own")
    assert is_in(there) and there.session[ONLY_ORG] == str(story.atlas.id)
    with platform_scope("test"):
        assert Membership.objects.get(user=bob).role == "admin"


def test_linking_address_of_another_organization_sends_no_password(story, own):
    theirs = Provider.objects.create(
        org=story.borealis,
        kind="ldap",
        slug="theirs",
        name="Theirs",
        config=own.config,
        secrets=own.secrets,
    )
    client = story.client(story.cyd)
    prove(client)
    page = client.post(
        f"/accounts/linked/{theirs.slug}/",
        {"login": "bob@corp.example", "password": password_of("bob")},
        follow=True,
    )
    theirs.refresh_from_db()
    assert (
        "belongs to another organization" in page.content.decode()
        and theirs.seen_at is None
        and not Identity.objects.exists()
    )
    client.post(
        f"/accounts/linked/{theirs.slug}/", {"login": "bob", "password": password_of("bob")}
    )
    assert Identity.objects.get().user == story.cyd


def test_linking_operator_to_org_directory_is_refused(story, own):
    client = story.client(story.dot)
    prove(client)
    client.post("/accounts/linked/atlas-own/", {"login": "bob", "password": password_of("bob")})
    assert not Identity.objects.exists()
    Identity.objects.create(provider=own, subject=_subject_of(own, "bob"), user=story.dot)
    assert not is_in(sign_in("bob", password_of("bob"), directory="atlas-own")[0])


def _subject_of(provider, login):
    from workspaces.identity.auth_backend import prove

    return prove(provider, login, password_of(login)).subject


def test_directory_with_unreadable_secret_does_not_block_others(story, wide, slapd):
    with no_scope():
        Provider.objects.create(
            kind="ldap", slug="broken", name="Broken", config=wide.config, secrets=b"unreadable"
        )
    assert is_in(sign_in("ada", password_of("ada"))[0])
    _, answer = sign_in("ada", "wrong")
    assert "Broken does not respond" in answer.content.decode()
