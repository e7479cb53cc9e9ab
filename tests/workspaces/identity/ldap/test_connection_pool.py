"""Pooled connections: fewer handshakes, and otherwise the same results."""

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
from workspaces.identity.ldap.errors import directory_error
from workspaces.identity.ldap.password_check import query_directories
from workspaces.identity.ldap.settings import normalized_dn


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """Record the URLs of opened connections, in order."""
    found, usual = list[str](), connection.open_connection
    monkeypatch.setattr(
        "workspaces.identity.ldap.client.open_connection",
        lambda config, url, seconds: found.append(url) or usual(config, url, seconds),
    )
    return found


def answer(config, login="ada", password="", seconds=4.0):
    return query_directories([("corp", config)], login, password or password_of(login), seconds)[0]


def test_second_sign_in_reuses_the_connection(config, opened):
    assert (
        answer(config).person.login == "ada"
        and answer(config, "bob").person.login == "bob"
        and len(opened) == 1
    )


@each("before", ["ada", "wrong", "nobody"])
def test_reused_connection_is_bound_as_the_bind_dn(config, before):
    answer(config, "ada" if before == "wrong" else before, "wrong" if before == "wrong" else "")
    with connection_pool.pooled_connection(config, 4.0) as directory:
        assert directory._ldap.whoami_s() == f"dn:{READER}"


def test_reused_connection_rejects_password_of_another_person(config, opened):
    assert (
        answer(config).person
        and not answer(config, "bob", password_of("ada")).person
        and answer(config, "bob").person
    )
    assert len(opened) == 1


def test_reused_connection_returns_current_groups(slapd, config, opened):
    assert normalized_dn(group_dn("visitors")) not in answer(config, "bob").person.groups
    slapd.change(group_dn("visitors"), member=[people_dn("eve"), people_dn("bob")])
    try:
        assert normalized_dn(group_dn("visitors")) in answer(config, "bob").person.groups
    finally:
        slapd.change(group_dn("visitors"), member=[people_dn("eve")])
    assert (
        normalized_dn(group_dn("visitors")) not in answer(config, "bob").person.groups
        and len(opened) == 1
    )


def test_restarted_directory_is_reconnected(slapd, config, opened):
    assert answer(config).person
    slapd.stop()
    start = time.monotonic()
    assert answer(config).trouble.is_away and time.monotonic() - start < 4.5
    slapd.start()
    assert answer(config).person and len(opened) == 3


def test_dead_pooled_connection_costs_one_second(config, opened, monkeypatch):
    """Behave as a firewall that dropped the connection: sent data is lost and nothing arrives."""
    assert answer(config).person
    usual = connection._to_server
    old = {thread for thread in threading.enumerate() if thread.name == "directory-line"}

    def up(server, ours, left):
        return (
            bool(ours.recv(1 << 16))
            if threading.current_thread() in old
            else usual(server, ours, left)
        )

    monkeypatch.setattr(connection, "_to_server", up)
    start = time.monotonic()
    assert answer(config).person and 0.9 < time.monotonic() - start < 2.5 and len(opened) == 2


def test_changed_bind_password_fails_once_on_pooled_connection(slapd, config, opened):
    assert answer(config).person
    slapd.change(READER, userPassword="another")
    try:
        assert "rejected the bind DN" in answer(config).trouble.message and len(opened) == 1
    finally:
        slapd.change(READER, userPassword=READER_PASSWORD)
    assert answer(config).person


def test_server_refusing_second_bind_gets_new_connection(config, opened, monkeypatch):
    def refuse(directory: Directory, seconds: float) -> None:
        raise directory_error(
            ldap.UNWILLING_TO_PERFORM({"desc": "Server is unwilling to perform"}),
            config,
            "signing in with the bind DN",
        )

    assert answer(config).person
    monkeypatch.setattr(Directory, "resume", refuse)
    assert answer(config, "bob").person and len(opened) == 2


@each("more", [{"ca": ""}, {"bind_password": "wrong"}, {"is_private": False}])
def test_changed_config_does_not_reuse_connection(config, more):
    assert answer(config).person and answer(replace(config, **more)).trouble


def test_idle_connection_is_closed(config, opened, monkeypatch):
    monkeypatch.setattr(connection_pool, "IDLE", 0.2)
    assert answer(config).person
    time.sleep(0.4)
    assert answer(config).person and len(opened) == 2


def test_connection_over_maximum_age_is_closed(config, opened, monkeypatch):
    monkeypatch.setattr(connection_pool, "OLDEST", 0.2)
    assert answer(config).person
    time.sleep(0.3)
    assert answer(config).person and len(opened) == 2


def test_groups_over_the_size_limit_are_paged(config, monkeypatch):
    whole = answer(config).person.groups
    monkeypatch.setattr("workspaces.identity.ldap.client.AT_ONCE", 1)
    monkeypatch.setattr("workspaces.identity.ldap.client.PAGE", 1)
    assert len(whole) == 4 and answer(config).person.groups == whole
