"""Fixtures: a real slapd, and directories that use it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from tests.rig.processes import Folder
from tests.rig.slapd import Slapd, start_slapd
from workspaces.access.actors import actor_of
from workspaces.identity import request_limits
from workspaces.identity.ldap import connection_pool
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_services import create_provider, set_rules
from workspaces.models import Provider
from workspaces.tenancy.scope import no_scope, org_scope


@pytest.fixture(scope="session")
def slapd() -> Iterator[Slapd]:
    folder = Folder()
    try:
        yield start_slapd(folder)
    finally:
        folder.close()


@pytest.fixture(autouse=True)
def nobody_has_tried_yet() -> Iterator[None]:
    """Reset rate limits before each test, and close pooled connections after it."""
    cache.clear()
    request_limits.reset()
    yield
    connection_pool.close_all()


@pytest.fixture
def config(slapd: Slapd) -> Config:
    return Config(**slapd.options())


@pytest.fixture
def wide(story, slapd: Slapd) -> Provider:
    """Return the installation's directory: staff are members of Atlas, research leads Vision."""
    with no_scope():
        made = create_provider(
            actor=actor_of(story.dot),
            org=None,
            kind="ldap",
            slug="corp",
            name="Corp",
            options=slapd.options(),
        )
        set_rules(
            actor=actor_of(story.dot),
            provider=made,
            rules=[
                {
                    "group": "cn=staff,ou=groups,dc=corp,dc=example",
                    "org": "atlas",
                    "role": "member",
                },
                {
                    "group": "CN=research, ou=groups, dc=corp, dc=example",
                    "org": "atlas",
                    "team": "vision",
                    "role": "lead",
                },
            ],
        )
    return made


@pytest.fixture
def own(story, slapd: Slapd) -> Provider:
    """Return Atlas's own directory, whose people are all members."""
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        made = create_provider(
            actor=story.actor(story.dot),
            org=story.atlas,
            kind="ldap",
            slug="atlas-own",
            name="Atlas' own",
            options=slapd.options(),
            domains=["corp.example"],
        )
        set_rules(actor=ada, provider=made, rules=[{"group": "*", "role": "member"}])
    return made
