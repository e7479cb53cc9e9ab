"""An organization's own roles from the rows: fresh, or as this process knew them a moment ago."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from uuid import UUID

from workspaces.access.roles import OwnRole, is_built_in, own_role
from workspaces.models import Role
from workspaces.tenancy.scope import org_scope

KEPT = 2.0  # seconds that a change made by another process may go unseen
_known: dict[UUID, tuple[float, Mapping[str, OwnRole]]] = {}
_turn = 0  # counts the times of forgetting, so that what was read before one is not kept after it


def own_roles(org_id: UUID) -> Mapping[str, OwnRole]:
    """By slug; one statement at most every two seconds."""
    at, roles = _known.get(org_id, (0.0, {}))
    if at and time.monotonic() - at < KEPT:
        return roles
    turn = _turn
    roles = read_own_roles(org_id)
    if turn == _turn:
        _known[org_id] = (time.monotonic(), roles)
    return roles


def own_roles_for(org_id: UUID, held: Iterable[str]) -> Mapping[str, OwnRole]:
    """The same for who holds these roles: nothing is asked for while all of them are built-in."""
    return {} if all(is_built_in(slug) or not slug for slug in held) else own_roles(org_id)


def read_own_roles(org_id: UUID) -> Mapping[str, OwnRole]:
    """From the rows, now."""
    with org_scope(org_id):
        rows = Role.objects.values_list("slug", "kind", "name", "permissions")
        return {
            slug: own_role(slug, kind, name, permissions) for slug, kind, name, permissions in rows
        }


def forget() -> None:
    """What is known may have changed: the next asks the rows."""
    global _turn
    _turn += 1
    _known.clear()
