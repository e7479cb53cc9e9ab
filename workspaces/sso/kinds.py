"""The kinds of providers. A kind is one file that makes a `Kind`; nothing else knows it by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import import_string

from portal.core.errors import InvalidInput
from portal.core.options import Option, options_in

# by Provider.Kind; a path, so that one kind's library is not another's need
_FILES = {
    "ldap": "workspaces.sso.ldap.kind.LDAP",
    "oidc": "workspaces.sso.oidc.kind.OIDC",
}


@dataclass(frozen=True)
class Found:
    """What a test says: the answer in words, and facts for programs."""

    is_ok: bool
    message: str
    facts: tuple[tuple[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"is_ok": self.is_ok, "message": self.message, "facts": dict(self.facts)}


@dataclass(frozen=True)
class Kind:
    """`config` is a dataclass of `portal.core.options.option` fields; `test` takes one of it and may last ten seconds; `missing`
    says what has to be installed first, or nothing; `has_sync`: everybody can be listed."""

    name: str
    title: str
    note: str
    config: type[Any]
    test: Callable[[Any], Found]
    missing: Callable[[], str] = lambda: ""
    has_sync: bool = False
    group_key: Callable[[str], str] = str.strip     # a group as rules keep it, so that it equals what `Person.groups` holds

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
        raise InvalidInput.at("kind", f"there is no {name[:40]!r}; there is {', '.join(sorted(kinds()))}")
    return kinds()[name]
