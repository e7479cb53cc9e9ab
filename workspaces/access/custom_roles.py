"""Read an organization's custom roles, with a short cache per process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from uuid import UUID

from workspaces.access.roles import CustomRole, custom_role, is_built_in
from workspaces.models import Role
from workspaces.tenancy.scope import org_scope

CACHE_SECONDS = 2.0  # seconds until changes by other processes are seen
_cache: dict[UUID, tuple[float, Mapping[str, CustomRole]]] = {}
_generation = (
    0  # incremented by `invalidate`, so that results read before it are not cached after it
)


def cached_custom_roles(org_id: UUID) -> Mapping[str, CustomRole]:
    """Return custom roles by slug. Queries the database at most every two seconds."""
    at, roles = _cache.get(org_id, (0.0, {}))
    if at and time.monotonic() - at < CACHE_SECONDS:
        return roles
    generation = _generation
    roles = read_custom_roles(org_id)
    if generation == _generation:
        _cache[org_id] = (time.monotonic(), roles)
    return roles


def custom_roles_for(org_id: UUID, held: Iterable[str]) -> Mapping[str, CustomRole]:
    """Return custom roles by slug, or nothing without a query if all `held` roles are built in."""
    return (
        {} if all(is_built_in(slug) or not slug for slug in held) else cached_custom_roles(org_id)
    )


def read_custom_roles(org_id: UUID) -> Mapping[str, CustomRole]:
    """Return custom roles by slug from the database, bypassing the cache."""
    with org_scope(org_id):
        rows = Role.objects.values_list("slug", "kind", "name", "permissions")
        return {
            slug: custom_role(slug, kind, name, permissions)
            for slug, kind, name, permissions in rows
        }


def invalidate() -> None:
    """Invalidate the cache."""
    global _generation
    _generation += 1
    _cache.clear()
