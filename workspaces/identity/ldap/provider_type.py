"""LDAP as a provider type; python-ldap is optional, as building it needs the LDAP headers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from portal.core.messages import Message
from workspaces.identity.ldap.settings import Config, normalized_dn
from workspaces.identity.provider_types import (
    FIND_SECONDS,
    MISSING,
    DirectoryListing,
    ProviderTestResult,
    ProviderType,
)


def _test(config: Config, person: str = "") -> ProviderTestResult:
    from workspaces.identity.ldap.testing import check_settings

    return check_settings(config, person)


def _listing(config: Config, progress: Callable[[int], None]) -> DirectoryListing:
    from workspaces.identity.ldap.listing import list_everyone

    return list_everyone(config, progress)


def _find_groups(config: Config, typed: str) -> list[str]:
    from workspaces.identity.ldap.client import Directory

    with Directory(config, FIND_SECONDS) as directory:
        return directory.names_of_groups(typed)


def _missing() -> str:
    return "" if find_spec("ldap") else MISSING


LDAP = ProviderType(
    "ldap",
    "LDAP directory",
    Message("Active Directory, FreeIPA or OpenLDAP. People keep their password."),
    Message(
        "People sign in with their directory password, and their groups determine their roles."
    ),
    Config,
    _test,
    _missing,
    _listing,
    _find_groups,
    normalized_dn,
    finds_people=True,
)
