"""What is understood in claims, assertions and entries, and what is said about the rest."""

from __future__ import annotations

from portal.core.errors import InvalidInput
from tests.each import each
from workspaces.identity.claims import (
    MICROSOFT_GROUPS,
    OVERAGE_LINK,
    claims_from_oidc,
    claims_from_saml,
)
from workspaces.identity.ldap.entries import entry_of, person_of
from workspaces.identity.ldap.settings import PRESETS
from workspaces.organizations.people_file import read_people
from workspaces.organizations.services import checked_email

SCHEMA = PRESETS["OpenLDAP"]


def _oidc(**claims):
    return claims_from_oidc({"sub": "u-1", "email": "eve@corp.example"} | claims)


def _saml(**attributes):
    return claims_from_saml(
        {"nameid": "u-1", "format": "", "attributes": attributes}, subject="", email="mail"
    )


def _ldap(*mails):
    entry = entry_of("uid=o", {"entryUUID": [b"u-1"], "mail": [mail.encode() for mail in mails]})
    return person_of(entry, SCHEMA)


@each(
    ("typed", "stored"),
    [
        ("O'Brien@corp.example", "o'brien@corp.example"),
        (" eve+gpu@corp.example ", "eve+gpu@corp.example"),
        ("eve@@corp.example", ""),
        ("eve\u200b@corp.example", ""),
        ("<eve@corp.example>", ""),
    ],
)
def test_address_is_read_by_one_rule_wherever_it_comes_from(typed, stored):
    people, _ = read_people(f'email,name\n"{typed}",Eve\n')
    found = {
        "oidc": _oidc(email=typed).email,
        "saml": _saml(mail=[typed]).email,
        "file": people[0].email if people else "",
    }
    try:
        found["form"] = checked_email(typed)
    except InvalidInput:
        found["form"] = ""
    assert set(found.values()) == {stored}, found


def test_ldap_address_is_the_first_that_is_one():
    assert _ldap("none", "O'Brien@corp.example").email == "o'brien@corp.example"
    person = _ldap("eve at corp")
    assert person.email == "" and person.instead == "'eve at corp'"


def test_unusable_address_is_named_in_the_reason():
    assert "'eve at corp'" in _oidc(email="eve at corp").why
    assert "['eve@corp.example']" in _oidc(email=["eve@corp.example"]).why
    assert "NameID" in _saml(mail=[{"NameID": {"value": "eve@corp.example"}}]).why
    assert _oidc(email=None).why == "it didn't send your e-mail address"


@each(
    ("value", "is_verified"),
    [(True, True), ("true", True), ("True", True)]
    + [(value, False) for value in (False, "False", "false", "no", "0", "", 0, 1, None, [], {})],
)
def test_address_is_verified_only_by_true(value, is_verified):
    found = _oidc(email_verified=value)
    assert (found.email == "eve@corp.example") == is_verified
    assert is_verified or "hasn't verified" in found.why


@each(
    ("claims", "groups"),
    [
        ({}, None),
        ({"groups": None}, None),
        ({"groups": []}, set()),
        ({"groups": "people"}, {"people"}),
        ({"groups": ["people", "x" * 500]}, {"people"}),
        ({"groups": ["people"], "hasgroups": "false", "_claim_names": {"roles": "a"}}, {"people"}),
    ],
)
def test_groups_that_are_understood_need_no_reason(claims, groups):
    found = _oidc(**claims)
    assert found.groups == groups and found.groups_why == ""


@each(
    "claims",
    [
        {"groups": [{"value": "admins", "display": "Admins"}]},
        {"groups": ["people", {"value": "admins"}]},
        {"groups": {"admins": True}},
        {"groups": '["admins"]'},
        *({"groups": value} for value in (7, True, "", b"admins", [7], [None], [["admins"]], [""])),
        {"groups": [f"g{n}" for n in range(2001)]},
        {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}},
        {"groups": ["people"], "_claim_names": {"groups": "src1"}},
        {"_claim_names": '{"groups": "src1"}'},
        {"_claim_names": {}, "hasgroups": True},
        {"hasgroups": "true"},
    ],
)
def test_groups_that_are_not_understood_are_unknown_with_a_reason(claims):
    found = _oidc(**claims)
    assert found.groups is None and found.groups_why


def test_path_through_something_that_is_no_object_leaves_groups_unknown():
    def at(**claims):
        return claims_from_oidc({"sub": "u-1"} | claims, groups_claim="realm_access.roles")

    assert at(realm_access=["admins"]).groups_why and at(realm_access="admins").groups_why
    assert at(realm_access={"roles": ["admins"]}).groups == {"admins"}
    assert at().groups_why == at(realm_access={}).groups_why == ""


def test_saml_attributes_are_read_as_lists_or_single_values():
    assert _saml(groups="people").groups == {"people"} and _saml(mail="e@x.example").email
    assert _saml(groups=[{"NameID": {"value": "people"}}]).groups_why
    assert _saml(**{OVERAGE_LINK: ["https://graph.example"]}).groups_why
    assert _saml(**{MICROSOFT_GROUPS: ["people"], OVERAGE_LINK: ["https://graph"]}).groups_why
