"""Read an organization's custom roles, with a short cache per process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from uuid import UUID

from workspaces.access.roles import OwnRole, is_built_in, own_role
from workspaces.models import Role
from workspaces.tenancy.scope import org_scope

KEPT = 2.0  # seconds until changes by other processes are seen
_cache: dict[UUID, tuple[float, Mapping[str, OwnRole]]] = {}
_generation = 0  # incremented by `forget`, so that results read before it are not cached after it


def own_roles(org_id: UUID) -> Mapping[str, OwnRole]:
    """Return custom roles by slug. Queries the database at most every two seconds."""
    at, roles = _cache.get(org_id, (0.0, {}))
    if at and time.monotonic() - at < KEPT:
        return roles
    generation = _generation
    roles = read_own_roles(org_id)
    if generation == _generation:
        _cache[org_id] = (time.monotonic(), roles)
    return roles


def own_roles_for(org_id: UUID, held: Iterable[str]) -> Mapping[str, OwnRole]:
    """Return custom roles by slug, or nothing without a query if all `held` roles are built in."""
    return {} if all(is_built_in(slug) or not slug for slug in held) else own_roles(org_id)


def read_own_roles(org_id: UUID) -> Mapping[str, OwnRole]:
    """Return custom roles by slug from the database, bypassing the cache."""
    with org_scope(org_id):
        rows = Role.objects.values_list("slug", "kind", "name", "permissions")
        return {
            slug: own_role(slug, kind, name, permissions) for slug, kind, name, permissions in rows
        }


def forget() -> None:
    """Invalidate the cache."""
    global _generation
    _generation += 1
    _cache.clear()
