"""Built-in and custom roles. Pure; `workspaces.access.custom_roles` reads the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workspaces.access.permissions import (
    OPERATORS_ONLY,
    ORG_GRANTS,
    ORG_TITLES,
    OWNERS_ONLY,
    TEAM_GRANTS,
    TEAM_TITLES,
    Permission,
)

RESERVED_PERMISSIONS = OPERATORS_ONLY | OWNERS_ONLY  # what no custom role grants
NOTHING: frozenset[Permission] = frozenset()
_TABLES = {"org": (ORG_GRANTS, ORG_TITLES), "team": (TEAM_GRANTS, TEAM_TITLES)}
_KNOWN = {str(p): p for p in Permission if p not in RESERVED_PERMISSIONS}


@dataclass(frozen=True)
class CustomRole:
    """The effective permissions of a custom role.

    Permissions that are unknown to this version or forbidden in custom roles are in `unknown` and
    grant nothing.
    """

    slug: str
    kind: str
    name: str
    permissions: frozenset[Permission]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoleFacts:
    """Any role. `is_gone`: it is assigned to somebody but does not exist; it grants nothing."""

    slug: str
    kind: str
    title: str
    permissions: frozenset[Permission]
    is_own: bool = False
    is_gone: bool = False


def custom_role(slug: str, kind: str, name: str, permissions: Iterable[str]) -> CustomRole:
    """Build a custom role from its stored values."""
    stored = sorted(set(permissions))
    return CustomRole(
        slug,
        kind,
        name,
        frozenset(_KNOWN[p] for p in stored if p in _KNOWN),
        tuple(p for p in stored if p not in _KNOWN),
    )


def granted_by(kind: str, slug: str, own: Mapping[str, CustomRole]) -> frozenset[Permission]:
    """Return what a role grants, nothing if it does not exist.

    `own`: the organization's custom roles by slug.
    """
    built_in = _TABLES[kind][0].get(slug)
    if built_in is not None:
        return built_in
    role = own.get(slug)
    return role.permissions if role is not None and role.kind == kind else NOTHING


def role_facts(kind: str, slug: str, own: Mapping[str, CustomRole]) -> RoleFacts:
    """Return a role by slug."""
    grants, titles = _TABLES[kind]
    if slug in grants:
        return RoleFacts(slug, kind, titles[slug], grants[slug])
    role = own.get(slug)
    if role is None or role.kind != kind:
        return RoleFacts(slug, kind, slug, NOTHING, is_gone=True)
    return RoleFacts(slug, kind, role.name, role.permissions, is_own=True)


def roles_of(kind: str, own: Mapping[str, CustomRole]) -> Iterator[RoleFacts]:
    """Yield all roles of a kind: built-in ones first, by rank."""
    for slug in (
        *_TABLES[kind][0],
        *sorted(slug for slug, role in own.items() if role.kind == kind),
    ):
        yield role_facts(kind, slug, own)


def is_built_in(slug: str) -> bool:
    """Return whether a slug names a built-in role."""
    return slug in ORG_GRANTS or slug in TEAM_GRANTS
