"""Fast path of a sign-in that changes nothing: read a person in few prebuilt statements.

Otherwise `workspaces.identity.provisioning_services` reads and plans again, with the organizations
locked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection

from portal.core.joined_select import JoinedSelect
from workspaces.identity.provisioning import (
    EVERYONE,
    LinkedIdentity,
    Person,
    ProvisioningState,
    RoleAssignment,
    Rule,
    plan,
)
from workspaces.models import (
    GroupRule,
    Identity,
    Membership,
    Organization,
    Provider,
    TeamMembership,
    User,
)

_IDENTITY = tuple(field.attname for field in Identity._meta.concrete_fields)
_USER = tuple(field.attname for field in User._meta.concrete_fields)
_MEMBER = ("id", "org_id", "user_id", "role", "provider_id", "via", "suspended_at")
_SEAT = ("id", "org_id", "team_id", "user_id", "role", "provider_id", "via")
_WHO = JoinedSelect(
    "SELECT {columns} FROM {identity} JOIN {person} ON person.id = identity.user_id "
    "WHERE identity.provider_id = %s AND identity.subject = %s",
    {"identity": Identity, "person": User},
    [("identity", _IDENTITY), ("person", _USER)],
)
_MEMBERS = JoinedSelect(
    "SELECT {columns} FROM {member} WHERE member.user_id = %s",
    {"member": Membership},
    [("member", _MEMBER)],
)
_SEATS = JoinedSelect(
    "SELECT {columns} FROM {seat} WHERE seat.user_id = %s",
    {"seat": TeamMembership},
    [("seat", _SEAT)],
)
_RULES = """SELECT {{columns}} FROM {{rule}}
WHERE rule.provider_id = %s AND rule."group" IN ({groups}) ORDER BY rule.position"""


def unchanged(provider: Provider, person: Person) -> Identity | None:
    """Return the person's identity with its account if their plan is empty, else None.

    Call it in the platform scope, as a directory grants roles in several organizations.
    """
    rows = _WHO.rows([_id(provider.id), person.subject])
    if not rows:
        return None
    identity = Identity.from_db(connection.alias, _IDENTITY, rows[0][: len(_IDENTITY)])
    identity.provider, identity.user = (
        provider,
        User.from_db(connection.alias, _USER, rows[0][len(_IDENTITY) :]),
    )
    world = ProvisioningState(
        provider.id, provider.org_id, [_known(identity)], _seats(provider, identity.user_id)
    )
    return identity if plan(_rules(provider, person), [person], world).is_empty else None


def _known(row: Identity) -> LinkedIdentity:
    return LinkedIdentity(
        row.id,
        row.subject,
        row.user_id,
        row.user.email,
        row.login,
        tuple(row.groups),
        row.gone_since is not None,
        row.user.is_active,
        row.user.is_operator,
        row.email,
    )


def _seats(provider: Provider, user_id: UUID) -> list[RoleAssignment]:
    who = [_id(user_id)]
    found = [
        RoleAssignment(
            seat_id, org_id, None, user_id, role, given_by, via, suspended_at is not None
        )
        for seat_id, org_id, user_id, role, given_by, via, suspended_at in _MEMBERS.rows(who)
    ]
    found += [RoleAssignment(*row) for row in _SEATS.rows(who)]
    return [seat for seat in found if provider.org_id in (None, seat.org_id)]


def _rules(provider: Provider, person: Person) -> list[Rule]:
    """Return the rules that match the person's groups; no other applies."""
    groups = sorted({*person.groups, EVERYONE})
    return [Rule(*row) for row in _reading(len(groups)).rows([_id(provider.id), *groups])]


@lru_cache(maxsize=256)
def _reading(groups: int) -> JoinedSelect:
    return JoinedSelect(
        _RULES.format(groups=", ".join(["%s"] * groups)),
        {"rule": GroupRule},
        [("rule", ("group", "org_id", "team_id", "role"))],
    )


def _id(value: UUID) -> Any:
    return Organization._meta.pk.get_db_prep_value(value, connection)
