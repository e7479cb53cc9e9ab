"""Queries to a real slapd: results, refusals and error messages."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from portal.core.options import failures
from tests.each import each
from tests.rig.processes import free_port
from tests.rig.slapd import AD, BASE, group_dn, password_of, people_dn
from tests.stand_in import StandIn
from workspaces.identity.ldap import connection
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.entries import Groups, person_of
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.password_check import query_directories
from workspaces.identity.ldap.settings import Config, normalized_dn
from workspaces.identity.ldap.testing import check_settings

ADA = password_of("ada")


def answer(config, login="ada", password=ADA, seconds=4.0):
    return query_directories([("corp", config)], login, password, seconds)[0]


def is_known(config, login="ada", password=ADA) -> bool:
    found = query_directories([("corp", config)], login, password)
    return bool(found and found[0].person)


@each("login", ["ada", "ADA", "ada@corp.example"])
def test_password_check_returns_person_with_nested_groups(config, login):
    person = answer(config, login).person
    assert (person.email, person.name, person.login) == (
        "ada@corp.example",
        "Ada Lovelace",
        "ada",
    ) and len(person.subject) == 36
    assert person.groups == {
        normalized_dn(group_dn(name)) for name in ("staff", "vision", "ml", "research")
    }


def test_password_check_without_nesting_returns_direct_groups(config):
    person = answer(replace(config, nested=False)).person
    assert person.groups == {normalized_dn(group_dn(name)) for name in ("staff", "vision")}


def test_posix_group_membership_is_by_login_name(config):
    assert (
        normalized_dn(group_dn("unix")) in answer(config, "bob", password_of("bob")).person.groups
    )


def test_connection_by_starttls_ldaps_or_plain_works(slapd, config):
    assert is_known(config) and is_known(replace(config, url=slapd.ldaps))
    assert is_known(replace(config, plain=True, ca=""))


PASSWORDS = [
    "",
    " ",
    "\x00",
    "ada's own passwor",
    "ada's own password ",
    "Ada's own password",
    "*",
    "ada's own password\x00",
    "a" * 5000,
    "\ud800",
]


@each("password", PASSWORDS)
def test_wrong_or_empty_password_is_rejected(config, password):
    assert not is_known(config, password=password)


def test_empty_password_does_not_reach_the_server(config):
    assert query_directories([("corp", replace(config, url="ldap://127.0.0.1:1"))], "ada", "") == []
    with Directory(config, 4) as directory:
        assert not directory.is_password(directory.find("ada"), "")


INJECTIONS = [
    "*",
    "a*",
    "ada)(uid=*",
    "*)(uid=*))(|(uid=*",
    "ada)(|(uid=*)",
    "(uid=ada)",
    "ada\\",
    "\\61da",
    "ada\x00",
    "ada)(userPassword=*",
    ")(objectClass=*",
    "|(uid=ada)",
    "ad?",
    "uid=ada,ou=people,dc=corp,dc=example",
    "ada,ou=people",
    "&",
    "!",
    "ada%29",
    "\\2a",
    "é*",
]


@each("login", INJECTIONS)
def test_filter_syntax_in_login_is_escaped(config, login):
    assert not is_known(config, login, ADA)
    with Directory(config, 4) as directory:
        assert "\x00" in login or directory.find(login) is None


def test_listing_with_small_pages_is_complete(config, monkeypatch):
    monkeypatch.setattr("workspaces.identity.ldap.client.PAGE", 2)
    with Directory(config, 4) as directory:
        people, groups = list(directory.people()), Groups(directory.groups(), is_nested=True)
    people_here = {entry.dn for entry in people}
    assert {people_dn(uid) for uid in ("ada", "bob", "eve")} <= people_here and len(people) == len(
        people_here
    )
    ada = next(entry for entry in people if entry.dn == people_dn("ada"))
    assert groups.of(ada, "ada") == answer(config).person.groups


def test_active_directory_preset_skips_disabled_accounts(slapd):
    config = Config(**slapd.ad_options())
    anna = answer(config, "anna", password_of("anna")).person
    assert (
        anna.email == "anna@ad.example" and anna.subject == "00000000-0000-0000-0000-000000000001"
    )
    assert anna.groups == {
        normalized_dn(f"cn={name},ou=Groups,{AD}") for name in ("Vision", "ML", "Research")
    }
    assert not is_known(config, "otto", password_of("otto")) and is_known(
        config, "anna@ad.example", password_of("anna")
    )


def test_group_chain_rule_requires_server_capability(config, monkeypatch):
    monkeypatch.setattr(Directory, "_supports_chain_rule", lambda self: True)
    # slapd does not support the rule, so the result is empty
    assert answer(config).person.groups == frozenset()


def test_group_members_returned_in_ranges_are_combined(config):
    from workspaces.identity.ldap.entries import entry_of

    class Pieces(Directory):
        def _next_range(self, dn, name, start):
            assert (dn, name) == ("cn=big", "member")
            return (
                {f"member;range={start}-*": [b"c"]} if start == 2 else {f"{name};range=1-1": [b"b"]}
            )

    whole = Pieces(config, 1)._with_all_members(entry_of("cn=big", {"member;range=0-0": [b"a"]}))
    assert whole.attributes == {"member": [b"a", b"b", b"c"]}


def test_group_search_matches_part_of_the_name(config):
    with Directory(config, 4) as directory:
        assert (
            directory.names_of_groups("res") == [group_dn("research")]
            and directory.names_of_groups("*") == []
        )
        assert len(directory.names_of_groups("", most=3)) == 3


def test_directory_test_reports_people_and_groups(slapd, config):
    found = check_settings(config)
    assert (
        found.is_ok and "by StartTLS" in found.message and "3 people and 6 groups" in found.message
    )
    assert f"is {people_dn('ada')}, in 4 groups" in found.message
    assert "by LDAPS" in check_settings(replace(config, url=slapd.ldaps)).message
    assert "unencrypted LDAP" in check_settings(replace(config, plain=True)).message


def test_directory_test_marks_the_field_that_causes_each_error(slapd, config):
    broken: list[tuple[str, str, dict[str, object]]] = [
        ("is_private", "on a private network. Ask a platform operator", {"is_private": False}),
        ("ca", "isn't trusted", {"ca": ""}),
        ("bind_password", "rejected the bind DN", {"bind_password": "wrong"}),
        ("people_base", "Nothing was found while", {"people_base": f"ou=nobody,{BASE}"}),
        ("people_base", "There is nothing below|Nobody below", {"people_base": f"ou=empty,{BASE}"}),
        ("people_filter", "Nobody below", {"people_filter": "(objectClass=device)"}),
        ("people_filter", "can't read the filter", {"people_filter": "(=x)"}),
        ("subject_attribute", "have no nothingHere", {"subject_attribute": "nothingHere"}),
        ("login_attributes", "have no nothingHere", {"login_attributes": ("nothingHere",)}),
        ("group_base", "Nothing was found while", {"group_base": f"ou=nowhere,{BASE}"}),
        ("group_filter", "can't read the filter", {"group_filter": "(=x)"}),
        ("bind_dn", "Enter a bind DN|Use a bind DN", {"bind_dn": "", "bind_password": ""}),
        ("url", "failed (Connection refused)", {"url": f"ldap://127.0.0.1:{free_port()}"}),
        ("url", "Host nowhere.invalid can't be resolved", {"url": "ldap://nowhere.invalid"}),
        ("url", "Check the port", {"url": f"ldaps://127.0.0.1:{slapd.port}"}),
    ]
    for field, words, changed in broken:
        found = check_settings(replace(config, **changed))
        wrong = failures(found.checks)
        assert not found.is_ok and wrong[0].field == field, (field, found.checks)
        assert any(word in wrong[0].message for word in words.split("|")), (words, wrong)


def test_directory_test_reports_all_errors_at_once_and_finds_a_person(slapd, config):
    both = replace(config, people_base=f"ou=nobody,{BASE}", group_base=f"ou=nowhere,{BASE}")
    assert [check.field for check in failures(check_settings(both).checks)] == [
        "people_base",
        "group_base",
    ]
    servers = replace(config, url=f"{slapd.url} ldap://nowhere.invalid")
    found = check_settings(servers, "ada@corp.example")
    assert found.is_ok
    assert [str(check.state) for check in found.checks] == ["ok", "warning", "ok", "ok", "ok", "ok"]
    assert "Ada Lovelace (ada@corp.example) is" in found.checks[-1].message
    assert group_dn("research") in found.checks[-1].message
    assert failures(check_settings(config, "nobody").checks)[0].field == "person"


def test_certificate_for_another_host_is_refused(slapd, config, monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", slapd.port))]
    monkeypatch.setattr(connection, "socket", StandIn(socket, getaddrinfo=lambda *_, **__: found))
    with (
        pytest.raises(DirectoryError, match="isn't valid for elsewhere"),
        Directory(replace(config, url=f"ldap://elsewhere.example:{slapd.port}"), 4),
    ):
        pass


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return a port whose connections are never answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as listener:
        yield listener.getsockname()[1]


@each("scheme", ["ldap", "ldaps"])
def test_silent_directories_share_one_deadline(config, silent_port, scheme):
    silent = replace(config, url=f"{scheme}://127.0.0.1:{silent_port}")
    start = time.monotonic()
    answers = query_directories([("a", silent), ("b", silent), ("c", silent)], "ada", ADA, 1.0)
    assert time.monotonic() - start < 1.9 and all(
        found.trouble and found.trouble.is_away for found in answers
    )


def test_silent_directory_does_not_delay_others(config, silent_port):
    silent = replace(config, url=f"ldap://127.0.0.1:{silent_port}")
    start = time.monotonic()
    answers = query_directories([("silent", silent), ("corp", config)], "ada", ADA, 4.0)
    assert answers[1].person and time.monotonic() - start < 3.5


def test_next_server_address_is_used_when_first_is_down(slapd, config):
    assert is_known(replace(config, url=f"ldap://127.0.0.1:{free_port()} {slapd.url}"))
    assert is_known(replace(config, url=f"ldap://127.0.0.1:{free_port()} {slapd.url}", plain=True))


def test_entry_without_subject_attribute_has_no_person(config):
    with Directory(config, 4) as directory:
        entry = directory.find("ada")
    assert person_of(entry, replace(config, subject_attribute="employeeNumber").schema) is None
