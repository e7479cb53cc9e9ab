"""Built-in and custom roles. Pure; `workspaces.access.custom_roles` reads the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from workspaces.access.permissions import (
    OPERATORS_ONLY,
    ORG_TITLES,
    OWNERS_ONLY,
    TEAM_TITLES,
    AppPermission,
    all_permissions,
    org_grants,
    team_grants,
)

RESERVED_PERMISSIONS = OPERATORS_ONLY | OWNERS_ONLY  # what no custom role grants
NOTHING: frozenset[AppPermission] = frozenset()
_TITLES: dict[str, Mapping[str, str]] = {"org": ORG_TITLES, "team": TEAM_TITLES}


@dataclass(frozen=True)
class CustomRole:
    """The effective permissions of a custom role.

    Permissions that are unknown to this version or forbidden in custom roles are in `unknown` and
    grant nothing.
    """

    slug: str
    kind: str
    name: str
    permissions: frozenset[AppPermission]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoleFacts:
    """Any role. `is_gone`: it is assigned to somebody but does not exist; it grants nothing."""

    slug: str
    kind: str
    title: str
    permissions: frozenset[AppPermission]
    is_own: bool = False
    is_gone: bool = False


@cache
def grantable() -> Mapping[str, AppPermission]:
    """Return the permissions that custom roles may grant, by name."""
    return {str(p): p for p in all_permissions() if p not in RESERVED_PERMISSIONS}


def built_in(kind: str) -> Mapping[str, frozenset[AppPermission]]:
    """Return the grants of the built-in roles of a kind."""
    return org_grants() if kind == "org" else team_grants()


def custom_role(slug: str, kind: str, name: str, permissions: Iterable[str]) -> CustomRole:
    """Build a custom role from its stored values."""
    stored, known = sorted(set(permissions)), grantable()
    return CustomRole(
        slug,
        kind,
        name,
        frozenset(known[p] for p in stored if p in known),
        tuple(p for p in stored if p not in known),
    )


def granted_by(kind: str, slug: str, own: Mapping[str, CustomRole]) -> frozenset[AppPermission]:
    """Return what a role grants, nothing if it does not exist.

    `own`: the organization's custom roles by slug.
    """
    granted = built_in(kind).get(slug)
    if granted is not None:
        return granted
    role = own.get(slug)
    return role.permissions if role is not None and role.kind == kind else NOTHING


def role_facts(kind: str, slug: str, own: Mapping[str, CustomRole]) -> RoleFacts:
    """Return a role by slug."""
    grants = built_in(kind)
    if slug in grants:
        return RoleFacts(slug, kind, _TITLES[kind][slug], grants[slug])
    role = own.get(slug)
    if role is None or role.kind != kind:
        return RoleFacts(slug, kind, slug, NOTHING, is_gone=True)
    return RoleFacts(slug, kind, role.name, role.permissions, is_own=True)


def roles_of(kind: str, own: Mapping[str, CustomRole]) -> Iterator[RoleFacts]:
    """Yield all roles of a kind: built-in ones first, by rank."""
    for slug in (
        *built_in(kind),
        *sorted(slug for slug, role in own.items() if role.kind == kind),
    ):
        yield role_facts(kind, slug, own)


def is_built_in(slug: str) -> bool:
    """Return whether a slug names a built-in role."""
    return slug in org_grants() or slug in team_grants()
