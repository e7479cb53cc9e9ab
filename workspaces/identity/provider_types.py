"""Registry of provider types; each is one module that defines a `ProviderType`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import import_string

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.options import ConnectionCheck, Option, Way, options_in, ways_of
from workspaces.identity.provisioning import ProviderPerson

# Paths by Provider.Kind, imported on demand, so that no type needs another's libraries.
_FILES = {
    "oidc": "workspaces.identity.oidc.provider_type.OIDC",
    "ldap": "workspaces.identity.ldap.provider_type.LDAP",
    "saml": "workspaces.identity.saml.provider_type.SAML",
    "scim": "workspaces.identity.scim.provider_type.SCIM",
}


# `make directories` builds python-ldap; xmlsec comes as a wheel. README.md and the Makefile name
# the same packages.
MISSING = Message(
    "LDAP and SAML require libraries that aren't installed. On Debian, run apt install gcc "
    "python3-dev libldap-dev libsasl2-dev, then make directories, and restart Muster."
)


FIND_SECONDS = 4.0  # for `find_groups`, which runs in a request


@dataclass(frozen=True)
class ProviderTestResult:
    """The result of a test: a message for people, facts for programs, and the checklist."""

    is_ok: bool
    message: str
    facts: tuple[tuple[str, Any], ...] = ()
    checks: tuple[ConnectionCheck, ...] = ()


@dataclass(frozen=True)
class DirectoryListing:
    """All people of a provider, and its number of groups."""

    people: Sequence[ProviderPerson]
    groups: int = 0


class ProviderUnavailable(Exception):
    """A provider could not be queried completely; the message is for people."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class ProviderType:
    """A provider type.

    `config` is a dataclass of `portal.core.options.option` fields. `test` gets a config and, if
    `finds_people`, the name of a person or ""; it may take ten seconds. `missing` returns which
    packages must be installed, or "". `listing` returns everyone, if the type can, reports the
    number read so far to its second argument and raises ProviderUnavailable. `test` and `listing`
    run in a background thread, never in a request.
    """

    name: str
    title: str
    about: str  # when to choose it
    note: str
    config: type[Any]
    test: Callable[..., ProviderTestResult]
    missing: Callable[[], str] = lambda: ""
    listing: Callable[[Any, Callable[[int], None]], DirectoryListing] | None = None
    # Returns at most twenty groups whose name contains the text; raises ProviderUnavailable.
    find_groups: Callable[[Any, str], list[str]] | None = None
    # Normalizes a group in a rule, so that it equals those in `ProviderPerson.groups`.
    group_key: Callable[[str], str] = str.strip
    finds_people: bool = False  # whether its test finds a person without a sign-in

    @property
    def ways(self) -> tuple[Way, ...]:
        return ways_of(self.config)

    @property
    def options(self) -> list[Option]:
        return options_in(self.config)


@cache
def kinds() -> dict[str, ProviderType]:
    """Return all provider types by name."""
    return {name: import_string(path) for name, path in _FILES.items()}


def kind_of(name: str) -> ProviderType:
    """Return a provider type. Raises InvalidInput."""
    if name not in kinds():
        raise InvalidInput.at(
            "kind", f"{name[:40]!r} isn't supported; choose one of {', '.join(sorted(kinds()))}"
        )
    return kinds()[name]
