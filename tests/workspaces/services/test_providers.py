"""Identity providers: permissions, validation, and secrets that are never shown."""

from __future__ import annotations

import re

import pytest

from clusters.backend_options import options_of
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from portal.core.options import Options, check, options_in
from tests.each import each
from tests.rig.environment import ROOT
from tests.workspaces.trying import try_options
from workspaces.access.actors import actor_of
from workspaces.identity.oidc.settings import Config as Oidc
from workspaces.identity.provider_services import (
    config_of,
    create_provider,
    find_provider,
    group_rules,
    providers_for,
    remove_provider,
    set_rules,
    stored_secret_names,
    update_provider,
)
from workspaces.identity.provider_types import MISSING
from workspaces.models import DirectoryRun, Membership, Provider, ProviderTest
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

SECRET = "a canary of a password"
OPTIONS = {
    "url": "ldaps://directory.example.com",
    "people_base": "ou=people,dc=x",
    "bind_dn": "cn=r,dc=x",
    "bind_password": SECRET,
}


@pytest.fixture
def made(story):
    with org_scope(story.atlas.id):
        yield create_provider(
            actor=story.actor(story.ada),
            org=story.atlas,
            kind="ldap",
            slug="corp",
            name="Corp",
            options=OPTIONS,
        )


def test_provider_secret_is_encrypted_and_never_shown(story, made):
    row = Provider.objects.get(id=made.id)
    assert SECRET not in str(row.config) and SECRET.encode() not in bytes(row.secrets)
    assert str(config_of(row).bind_password) == SECRET and stored_secret_names(row) == [
        "bind_password"
    ]
    assert SECRET not in str(list(Event.objects.values()))
    client = story.client(story.ada)
    for path in (
        "/atlas/directories",
        "/atlas/directories/corp",
        "/atlas/directories/corp/edit",
        "/api/v1/orgs/atlas/providers/corp",
    ):
        answer = client.get(path)
        assert answer.status_code == 200 and SECRET not in answer.content.decode()


def test_provider_empty_secret_is_kept_and_not_recorded(story, made):
    update_provider(
        actor=story.actor(story.ada),
        provider=made,
        options={"bind_password": "", "people_base": "ou=staff,dc=x"},
        name="New",
    )
    made.refresh_from_db()
    assert (str(config_of(made).bind_password), made.name) == (SECRET, "New")
    event = Event.objects.filter(kind="provider.changed").get()
    assert event.data["options"] == ["people_base"] and event.data["before"]["name"] == "Corp"


WRONG = [
    ("url", "http://x"),
    ("url", "ldap://"),
    ("url", "ldap://x/dc=y"),
    ("url", "ldap://u@x"),
    ("url", ""),
    ("url", "ldaps://x?y"),
    ("people_filter", "(uid=*))(|(x=*)"),
    ("people_filter", "uid=*"),
    ("people_filter", "((uid=*)"),
    ("login_attributes", "uid)(x"),
    ("email_attribute", "mail=*"),
    ("ca", "no certificate"),
    ("sync_minutes", -1),
    ("preset", "Other"),
    ("nonsense", "x"),
]


@each(("name", "value"), WRONG)
def test_provider_invalid_options_are_rejected_by_field(story, name, value):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput) as error:
        create_provider(
            actor=story.actor(story.ada),
            org=story.atlas,
            kind="ldap",
            slug="corp",
            name="",
            options=OPTIONS | {name: value},
        )
    assert error.value.data["errors"][0]["field"] == f"options.{name}"


def test_provider_requires_owner_or_operator(story, made):
    with org_scope(story.atlas.id), platform_scope("test"):
        Membership.objects.filter(user=story.ben).update(role="admin")
    ben, ada = story.actor(story.ben), story.actor(story.ada)
    for act in (
        lambda: create_provider(
            actor=ben, org=story.atlas, kind="ldap", slug="x1", name="", options=OPTIONS
        ),
        lambda: create_provider(
            actor=ada, org=None, kind="ldap", slug="x2", name="", options=OPTIONS
        ),
        lambda: update_provider(actor=ben, provider=made, is_enabled=False),
        lambda: remove_provider(actor=ben, provider=made),
        lambda: set_rules(actor=ben, provider=made, rules=[]),
        lambda: try_options(actor=ben, org=story.atlas, kind="ldap", options=OPTIONS),
        lambda: create_provider(
            actor=ada,
            org=story.atlas,
            kind="ldap",
            slug="x3",
            name="",
            options=OPTIONS | {"is_private": True},
        ),
        lambda: create_provider(
            actor=ada,
            org=story.atlas,
            kind="ldap",
            slug="x4",
            name="",
            options=OPTIONS,
            domains=["x.example"],
        ),
    ):
        with pytest.raises(NotPermitted):
            act()
    assert [row.slug for row in Provider.objects.all()] == ["corp"]


def test_provider_of_other_organization_is_not_found(story, made):
    with pytest.raises(NotFound):
        find_provider(story.actor(story.cyd), "corp")
    assert providers_for(story.actor(story.cyd)) == [] and [
        p.slug for p in providers_for(story.actor(story.ada))
    ] == ["corp"]
    with no_scope():
        wide = create_provider(
            actor=actor_of(story.dot), org=None, kind="ldap", slug="wide", name="", options=OPTIONS
        )
    with pytest.raises(NotFound):
        find_provider(story.actor(story.ada), wide.slug)


def test_provider_name_is_unique_per_organization(story, made):
    with pytest.raises(Conflict):
        create_provider(
            actor=story.actor(story.ada),
            org=story.atlas,
            kind="ldap",
            slug="corp",
            name="",
            options=OPTIONS,
        )
    with org_scope(story.borealis.id):
        other = create_provider(
            actor=story.actor(story.cyd),
            org=story.borealis,
            kind="ldap",
            slug="corp",
            name="",
            options=OPTIONS,
        )
        assert find_provider(story.actor(story.cyd), "corp") == other
    assert find_provider(story.actor(story.ada), "corp") == made
    assert (made.slug, other.short_name) == (
        "corp",
        "corp",
    ) and other.slug != "corp"  # URLs of the first one never change


def test_domain_of_another_organization_is_refused(story, made):
    with no_scope():
        update_provider(
            actor=story.actor(story.dot, story.atlas), provider=made, domains=["corp.example"]
        )
    dot = story.actor(story.dot, story.borealis)
    with (
        org_scope(story.borealis.id),
        pytest.raises(InvalidInput, match="already assigned to Atlas"),
    ):
        create_provider(
            actor=dot,
            org=story.borealis,
            kind="ldap",
            slug="theirs",
            name="",
            options=OPTIONS,
            domains=["corp.example"],
        )
    assert [row.slug for row in Provider.objects.all()] == ["corp"]


def test_provider_rules_keep_order_and_stay_in_reach(story, made):
    ada = story.actor(story.ada)
    rules = [
        {"group": "CN=Staff, DC=x", "role": "member"},
        {"group": "*", "team": "vision", "role": "viewer"},
    ]
    set_rules(actor=ada, provider=made, rules=rules)
    assert group_rules(made) == [
        {"group": "cn=staff,dc=x", "org": "atlas", "team": "", "role": "member"},
        {"group": "*", "org": "atlas", "team": "vision", "role": "viewer"},
    ]
    for wrong in (
        {"group": "", "role": "member"},
        {"group": "*", "role": "lead"},
        {"group": "*", "role": "root"},
        {"group": "*", "team": "north", "role": "member"},
        {"group": "*", "org": "borealis", "role": "member"},
        {"group": "x\x00y", "role": "member"},
        {"group": "x" * 401, "role": "member"},
    ):
        with pytest.raises(InvalidInput):
            set_rules(actor=ada, provider=made, rules=[wrong])
    assert len(group_rules(made)) == 2
    event = Event.objects.filter(kind="provider.rules_changed").get()
    assert event.data["before"] == [] and len(event.data["after"]) == 2


def test_remove_provider_keeps_roles_as_given_by_hand(story, made):
    with platform_scope("test"):
        Membership.objects.filter(user=story.ben).update(provider=made, via="*")
    remove_provider(actor=story.actor(story.ada), provider=made)
    with platform_scope("test"):
        assert Membership.objects.get(user=story.ben).provider_id is None
    assert Event.objects.filter(kind="provider.removed").exists()


def test_provider_error_does_not_leak_secret(story, made, monkeypatch):
    from workspaces.identity.provider_types import ProviderTestResult, kind_of

    kind = kind_of("ldap")
    monkeypatch.setattr(
        "workspaces.identity.provider_services.kind_of",
        lambda name: kind.__class__(
            **{
                **{f: getattr(kind, f) for f in kind.__dataclass_fields__},
                "test": lambda config, person: ProviderTestResult(False, f"no: {SECRET}"),
            }
        ),
    )
    found = try_options(
        actor=story.actor(story.ada), org=story.atlas, kind="ldap", options={}, provider=made
    )
    assert SECRET not in found.message and "••••" in found.message


def test_ldap_without_library_names_package(story, monkeypatch):
    monkeypatch.setattr("workspaces.identity.ldap.provider_type.find_spec", lambda name: None)
    with org_scope(story.atlas.id):
        page = (
            story.client(story.ada).get("/atlas/directories/-/connect?kind=ldap").content.decode()
        )
        with pytest.raises(InvalidInput, match="make directories"):
            create_provider(
                actor=story.actor(story.ada),
                org=story.atlas,
                kind="ldap",
                slug="corp",
                name="",
                options=OPTIONS,
            )
    assert "make directories" in page


def test_step_of_the_wizard_names_every_fault_without_asking_the_directory(story):
    form = {
        "kind": "ldap",
        "way": "openldap",
        "do": "check",
        "slug": "Bad name",
        "url": "ldap.example",
        "bind_dn": "muster",
        "people_base": "people",
    }
    ada, path = story.client(story.ada), "/atlas/directories/-/connect?kind=ldap"
    faults = ada.post(path, form).context["faults"]
    assert sorted(faults) == ["bind_dn", "bind_password", "people_base", "slug", "url"]
    assert str(faults["url"]).endswith("Enter one such as ldaps://directory.example.com.")
    good = {
        "slug": "corp",
        "url": "ldaps://ldap.example",
        "bind_dn": "cn=muster,dc=example",
        "bind_password": "secret",
        "people_base": "ou=people,dc=example",
    }
    assert ada.post(path, form | good).context["faults"] == {}
    with platform_scope("test"):
        assert not ProviderTest.objects.exists()


def test_provider_package_names_are_consistent():
    for text in ((ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text(), MISSING):
        assert re.findall(r"apt install ([a-z0-9 -]*ldap[a-z0-9 -]*[a-z])", text) == [
            "gcc python3-dev libldap-dev libsasl2-dev"
        ]


@each("run", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_accept_unknown_run_accepts_nothing(story, run):
    Provider.objects.create(org=story.atlas, kind="ldap", slug="corp", name="Corp", config={})
    answer = story.client(story.ada).post(
        "/atlas/directories/corp/act", {"do": "accept", "run": run}, follow=True
    )
    assert answer.status_code == 200 and "can no longer be accepted" in answer.content.decode()
    assert not DirectoryRun.objects.exists()


def test_provider_new_address_requires_secret_again(story, made):
    """Check that a new address needs the secret again: else it could be sent to an attacker."""
    api, elsewhere = (
        story.api(story.ada, story.atlas),
        {"url": "ldaps://directory.example.com ldaps://mine.example"},
    )
    for send, path in ((api.patch, "corp"), (api.post, "corp/test")):
        answer = send(
            f"/api/v1/orgs/atlas/providers/{path}",
            {"options": elsewhere},
            content_type="application/json",
        )
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (
            400,
            "options.bind_password",
        ), path
    assert (
        config_of(Provider.objects.get(id=made.id)).url == OPTIONS["url"]
        and not ProviderTest.objects.exists()
    )
    moved = update_provider(
        actor=story.actor(story.ada), provider=made, options=elsewhere | {"bind_password": SECRET}
    )
    assert moved.config["url"] == elsewhere["url"]
    for options, address, secret in (
        (options_in(Oidc), "issuer", "client_secret"),
        (options_of("kubernetes"), "server", "token"),
        (options_of("slurm"), "rest_url", "rest_token"),
        (options_of("slurm"), "ssh_host", "ssh_key"),
    ):
        former = Options(
            {"client_id": "x", "spool": "/spool", address: "https://there.example"},
            {secret: SECRET},
        )
        with pytest.raises(InvalidInput) as error:
            check(options, {address: "https://mine.example"}, former)
        assert [fault["field"] for fault in error.value.data["errors"]] == [f"options.{secret}"]
        assert check(options, {address: "https://there.example", secret: ""}, former) == former
