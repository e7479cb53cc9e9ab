"""Conversations that are kept for the next sign-in: fewer handshakes, and nothing else different."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import ldap
import pytest

from tests.each import each
from tests.rig.slapd import READER, READER_PASSWORD, group_dn, password_of, people_dn
from workspaces.identity.ldap import connection, connection_pool
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.errors import explained
from workspaces.identity.ldap.password_check import ask
from workspaces.identity.ldap.settings import dn_key


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """The addresses of lines that were opened, in order."""
    found, usual = list[str](), connection.open_line
    monkeypatch.setattr(
        "workspaces.identity.ldap.client.open_line",
        lambda config, url, seconds: found.append(url) or usual(config, url, seconds),
    )
    return found


def answer(config, login="ada", password="", seconds=4.0):
    return ask([("corp", config)], login, password or password_of(login), seconds)[0]


def test_the_second_person_comes_in_by_the_line_of_the_first(config, opened):
    assert (
        answer(config).person.login == "ada"
        and answer(config, "bob").person.login == "bob"
        and len(opened) == 1
    )


@each("before", ["ada", "wrong", "nobody"])
def test_whoever_it_was_before_the_reader_asks_next(config, before):
    answer(config, "ada" if before == "wrong" else before, "wrong" if before == "wrong" else "")
    with connection_pool.conversation(config, 4.0) as directory:
        assert directory._ldap.whoami_s() == f"dn:{READER}"


def test_a_password_of_one_person_opens_nobody_else_on_the_same_line(config, opened):
    assert (
        answer(config).person
        and not answer(config, "bob", password_of("ada")).person
        and answer(config, "bob").person
    )
    assert len(opened) == 1


def test_groups_are_those_of_this_moment(slapd, config, opened):
    assert dn_key(group_dn("visitors")) not in answer(config, "bob").person.groups
    slapd.change(group_dn("visitors"), member=[people_dn("eve"), people_dn("bob")])
    try:
        assert dn_key(group_dn("visitors")) in answer(config, "bob").person.groups
    finally:
        slapd.change(group_dn("visitors"), member=[people_dn("eve")])
    assert (
        dn_key(group_dn("visitors")) not in answer(config, "bob").person.groups and len(opened) == 1
    )


def test_a_directory_that_was_started_again_is_gone_to_again(slapd, config, opened):
    assert answer(config).person
    slapd.stop()
    start = time.monotonic()
    assert answer(config).trouble.is_away and time.monotonic() - start < 4.5
    slapd.start()
    assert answer(config).person and len(opened) == 3


def test_a_line_that_went_silent_costs_a_second_and_no_more(config, opened, monkeypatch):
    """As behind a firewall that forgot it: what is sent is lost, and nothing comes."""
    assert answer(config).person
    usual = connection._up
    old = {thread for thread in threading.enumerate() if thread.name == "directory-line"}

    def up(server, ours, left):
        return (
            bool(ours.recv(1 << 16))
            if threading.current_thread() in old
            else usual(server, ours, left)
        )

    monkeypatch.setattr(connection, "_up", up)
    start = time.monotonic()
    assert answer(config).person and 0.9 < time.monotonic() - start < 2.5 and len(opened) == 2


def test_a_reader_whose_password_was_changed_is_refused_on_a_kept_line_too_and_once(
    slapd, config, opened
):
    assert answer(config).person
    slapd.change(READER, userPassword="another")
    try:
        assert "refused the reader" in answer(config).trouble.message and len(opened) == 1
    finally:
        slapd.change(READER, userPassword=READER_PASSWORD)
    assert answer(config).person


def test_a_directory_that_lets_nobody_sign_in_twice_on_one_line_is_gone_to_by_a_new_one(
    config, opened, monkeypatch
):
    def refuse(directory: Directory, seconds: float) -> None:
        raise explained(
            ldap.UNWILLING_TO_PERFORM({"desc": "Server is unwilling to perform"}),
            config,
            "signing in as the reader",
        )

    assert answer(config).person
    monkeypatch.setattr(Directory, "go_on", refuse)
    assert answer(config, "bob").person and len(opened) == 2


@each("more", [{"ca": ""}, {"bind_password": "wrong"}, {"is_private": False}])
def test_options_that_are_not_good_enough_get_no_line_of_those_that_are(config, more):
    assert answer(config).person and answer(replace(config, **more)).trouble


def test_a_line_is_not_kept_for_long(config, opened, monkeypatch):
    monkeypatch.setattr(connection_pool, "IDLE", 0.2)
    assert answer(config).person
    time.sleep(0.4)
    assert answer(config).person and len(opened) == 2


def test_a_line_that_is_in_use_all_the_time_ends_too(config, opened, monkeypatch):
    monkeypatch.setattr(connection_pool, "OLDEST", 0.2)
    assert answer(config).person
    time.sleep(0.3)
    assert answer(config).person and len(opened) == 2


def test_more_groups_than_the_server_gives_at_once_are_asked_page_by_page(config, monkeypatch):
    whole = answer(config).person.groups
    monkeypatch.setattr("workspaces.identity.ldap.client.AT_ONCE", 1)
    monkeypatch.setattr("workspaces.identity.ldap.client.PAGE", 1)
    assert len(whole) == 4 and answer(config).person.groups == whole
