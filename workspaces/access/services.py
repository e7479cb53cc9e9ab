"""Manage custom roles.

Nobody creates, changes or deletes a role that grants more than they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.formatting import names_text
from portal.core.messages import Message
from workspaces.access import custom_roles
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.access.role_presets import with_presets
from workspaces.access.roles import RESERVED_PERMISSIONS, custom_role, grantable, is_built_in
from workspaces.models import Membership, Organization, Role, TeamMembership
from workspaces.organizations.names import check_slug, clean_name, lock_organization

MAX_CUSTOM_ROLES = 50
# Other names of built-in roles, and names that suggest rights no role grants.
RESERVED_NAMES = frozenset(
    {
        "administrator",
        "billing",
        "none",
        "operator",
        "org-admin",
        "org-owner",
        "platform-operator",
        "read-only",
        "reader",
        "root",
        "superuser",
        "team-admin",
        "team-lead",
        "team-member",
        "useradmin",
    }
)


@transaction.atomic
def create_role(
    *,
    actor: Actor,
    org: Organization,
    slug: str,
    kind: str,
    permissions: Sequence[str],
    name: str = "",
) -> Role:
    """Create a custom role for memberships of the organization (`org`) or of teams (`team`).

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.ROLES_WRITE)
    check_slug(slug)
    if is_built_in(slug) or slug in RESERVED_NAMES:
        raise InvalidInput.at(
            "slug",
            Message("{name} is the name of a built-in role; choose another", name=repr(slug)),
        )
    if kind not in ("org", "team"):
        raise InvalidInput.at("kind", "must be org or team")
    wanted = _checked_permissions(permissions)
    _check_held(actor, wanted)
    lock_organization(org.id)
    if Role.objects.filter(slug=slug).exists():
        raise Conflict.at(
            "slug",
            Message("There is already a role {slug} in {slug2}.", slug=repr(slug), slug2=org.slug),
            code="name_taken",
        )
    if Role.objects.count() >= MAX_CUSTOM_ROLES:
        raise Conflict(
            Message(
                "{slug} has {MAX_CUSTOM_ROLES} custom roles, which is the maximum. Delete an "
                "unused one first.",
                slug=org.slug,
                MAX_CUSTOM_ROLES=MAX_CUSTOM_ROLES,
            )
        )
    row = Role.objects.create(
        org=org, slug=slug, kind=kind, name=clean_name(name or slug), permissions=wanted
    )
    _record_event("role.made", actor, row, after=_state(row))
    return row


@transaction.atomic
def change_role(
    *,
    actor: Actor,
    org: Organization,
    slug: str,
    name: str | None = None,
    permissions: Sequence[str] | None = None,
    was: Sequence[str] | None = None,
) -> Role:
    """Change name or permissions of a role, for everybody who has it.

    Raises InvalidInput, NotFound, NotPermitted, and Conflict if its permissions are no longer `was`.
    """
    authorize(actor, Permission.ROLES_WRITE)
    lock_organization(org.id)
    row = _role(slug)
    before = _state(row)
    _check_held(actor, custom_role(row.slug, row.kind, row.name, row.permissions).permissions)
    if was is not None and set(was) != set(row.permissions):
        raise Conflict(
            Message(
                "The permissions were changed since. Look at them, then save your change again."
            )
        )
    if name is not None:
        row.name = clean_name(name)
    if permissions is not None:
        row.permissions = _checked_permissions(permissions)
        _check_held(actor, row.permissions)
    row.save(update_fields=["name", "permissions"])
    _record_event("role.changed", actor, row, before=before, after=_state(row))
    return row


@transaction.atomic
def delete_role(*, actor: Actor, org: Organization, slug: str) -> None:
    """Delete an unused role. Raises Conflict naming its holders, NotFound, NotPermitted."""
    authorize(actor, Permission.ROLES_WRITE)
    lock_organization(org.id)
    row = _role(slug)
    _check_held(actor, custom_role(row.slug, row.kind, row.name, row.permissions).permissions)
    if held := holders(row):
        names = names_text(held)
        raise Conflict(
            Message(
                "The role {slug} is assigned to {names}. Give them another role first.",
                slug=slug,
                names=names,
            ),
            data={"holders": held[:100]},
        )
    row.delete()
    _record_event("role.deleted", actor, row, before=_state(row))


def holders(row: Role) -> list[str]:
    """Return the e-mail addresses of members with the role, with the team for team roles."""
    if row.kind == "org":
        return list(
            Membership.objects.filter(role=row.slug)
            .order_by("user__email")
            .values_list("user__email", flat=True)
        )
    seats = TeamMembership.objects.filter(role=row.slug).order_by("user__email", "team__slug")
    return [f"{email} in {team}" for email, team in seats.values_list("user__email", "team__slug")]


def _role(slug: str) -> Role:
    row = Role.objects.filter(slug=slug).first()
    if row is None:
        raise NotFound(Message("There is no custom role {x}.", x=repr(slug[:40])))
    return row  # type: ignore[no-any-return]


def _checked_permissions(given: Sequence[str]) -> list[str]:
    """Return the permissions, with those of a purpose instead of its name (`role_presets`)."""
    permissions = with_presets(given)
    wrong = sorted(set(permissions) - set(grantable()))
    if reserved := [p for p in wrong if p in RESERVED_PERMISSIONS]:
        raise InvalidInput.at(
            "permissions",
            f"{', '.join(reserved)}: not available to custom roles",
        )
    if wrong or not permissions:
        raise InvalidInput.at(
            "permissions",
            Message(
                "{words}: choose from {names}",
                context="error of a field",
                words=", ".join(map(repr, wrong)) or "empty",
                names=", ".join(grantable()),
            ),
        )
    return sorted(set(permissions))


def _check_held(actor: Actor, permissions: Iterable[str]) -> None:
    lacking = sorted(set(permissions) - actor.granted())
    if lacking:
        raise NotPermitted(
            Message(
                "You do not have {lacking} in this organization, so you cannot create, change "
                "or delete a role that includes it.",
                lacking=", ".join(lacking),
            ),
            data={"permissions": [str(p) for p in lacking]},
        )


def _state(row: Role) -> Mapping[str, Any]:
    return {"name": row.name, "kind": row.kind, "permissions": list(row.permissions)}


def _record_event(kind: str, actor: Actor, row: Role, **data: Any) -> None:
    record(
        EventRecord(
            kind,
            row.org_id,
            "role",
            row.id,
            actor.email,
            {"name": row.slug, "slug": row.slug, **data},
        )
    )
    transaction.on_commit(custom_roles.invalidate)
