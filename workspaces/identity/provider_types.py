"""The kinds of providers. A kind is one file that makes a `Kind`; nothing else knows it by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import import_string

from portal.core.errors import InvalidInput
from portal.core.options import Option, options_in
from workspaces.identity.provisioning import Person

# by Provider.Kind; a path, so that one kind's library is not another's need
_FILES = {
    "ldap": "workspaces.identity.ldap.provider_type.LDAP",
    "oidc": "workspaces.identity.oidc.provider_type.OIDC",
    "saml": "workspaces.identity.saml.provider_type.SAML",
    "scim": "workspaces.identity.scim.provider_type.SCIM",
}


# python-ldap is built by `make directories`; xmlsec comes as a wheel. README.md and the Makefile name the same packages.
MISSING = (
    "LDAP and SAML need libraries that are not installed. On Debian: apt install gcc python3-dev libldap-dev libsasl2-dev; "
    "then make directories, and start Muster again."
)


FIND_SECONDS = 4.0  # for `find_groups`, which is called in a request


@dataclass(frozen=True)
class Found:
    """What a test says: the answer in words, and facts for programs."""

    is_ok: bool
    message: str
    facts: tuple[tuple[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"is_ok": self.is_ok, "message": self.message, "facts": dict(self.facts)}


@dataclass(frozen=True)
class Listing:
    """Everybody whom a provider names, and how many groups it has."""

    people: Sequence[Person]
    groups: int = 0


class Away(Exception):
    """A provider could not be asked, or not to the end. The message is for people."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Kind:
    """`config` is a dataclass of `portal.core.options.option` fields; `test` takes one of it and may last ten seconds; `missing`
    says what has to be installed first, or nothing; `listing` gives everybody, where the kind can, and tells its second argument how
    many it has so far; it raises Away. Both are called by a thread of their own, never in a request."""

    name: str
    title: str
    note: str
    config: type[Any]
    test: Callable[[Any], Found]
    missing: Callable[[], str] = lambda: ""
    listing: Callable[[Any, Callable[[int], None]], Listing] | None = None
    find_groups: Callable[[Any, str], list[str]] | None = (
        None  # whose name holds what was typed, at most twenty; raises Away
    )
    group_key: Callable[[str], str] = (
        str.strip
    )  # a group as rules keep it, so that it equals what `Person.groups` holds

    @property
    def options(self) -> list[Option]:
        return options_in(self.config)


@cache
def kinds() -> dict[str, Kind]:
    """All of them, by name."""
    return {name: import_string(path) for name, path in _FILES.items()}


def kind_of(name: str) -> Kind:
    """Raises InvalidInput."""
    if name not in kinds():
        raise InvalidInput.at(
            "kind", f"there is no {name[:40]!r}; there is {', '.join(sorted(kinds()))}"
        )
    return kinds()[name]
