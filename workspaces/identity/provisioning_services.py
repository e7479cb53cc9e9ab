"""Apply what a provider reports about people: one at a sign-in, many by a sync or SCIM.

`workspaces.identity.provisioning` makes the plan. This module reads and writes the rows, a thousand
people in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.errors import Conflict, NotPermitted
from portal.core.events import record_all
from portal.core.messages import Message
from workspaces.access.permissions import OrgRole
from workspaces.credentials.tokens import revoke_vouched
from workspaces.identity.display_names import follow_names
from workspaces.identity.provisioning import (
    LinkedIdentity,
    NewIdentity,
    ProviderPerson,
    ProvisioningConflict,
    ProvisioningPlan,
    ProvisioningState,
    RoleAssignment,
    RoleChange,
    Rule,
    plan,
)
from workspaces.identity.provisioning_events import plan_events
from workspaces.identity.reinstatement import removed_by_other_providers
from workspaces.models import (
    AccessToken,
    GroupRule,
    Identity,
    Membership,
    Organization,
    Provider,
    TeamMembership,
    User,
)
from workspaces.quotas.guarantee_ends import end_guarantees
from workspaces.tenancy.scope import platform_scope

__all__ = [
    "ProviderPerson",
    "ProvisioningPlan",
    "ProvisioningState",
    "Rule",
    "SyncResult",
    "admit",
    "apply",
    "plan",
    "plan_of",
    "rules_of",
    "sync_people",
    "world_of",
]

BATCH = 1000
_IN = 1000  # values in one IN list
_WHY = "a directory grants roles in several organizations"


@dataclass(frozen=True)
class SyncResult:
    """The result of a sync: `plan` was applied unless it was a dry run or `objection` is set."""

    plan: ProvisioningPlan
    objection: str = ""
    is_done: bool = False


def admit(provider: Provider, person: ProviderPerson) -> User:
    """Return the account for a sign-in, with the roles that the person's groups grant now.

    Raises NotPermitted when no rule grants a role, Conflict when the address belongs to an account
    that is not linked.
    """
    found = _provisioned(provider, person)
    if found.user.is_operator and provider.org_id:
        raise NotPermitted(
            Message(
                "Operator accounts can't sign in through an organization's directory. Use your "
                "password."
            )
        )
    if found.user.name != person.name:
        follow_names(provider, [person], actor=_name(provider))
    if found.seen_at < clock.now() - timedelta(days=1):
        Identity.objects.filter(id=found.id).update(seen_at=clock.now())
    return found.user


def _provisioned(provider: Provider, person: ProviderPerson) -> Identity:
    made = plan_of(provider, [person])
    if not made.is_empty:
        made = _apply_in_transaction(
            provider, [person], [person.subject], actor=_name(provider), links={}
        )
    if made.clashes:
        raise Conflict(
            Message(
                "{name} identified you, but can't create an account for you: {x}. If you have "
                "an account, sign in with its password and link it there. Otherwise, ask an "
                "administrator to invite you.",
                name=provider.name,
                x=_describe(made.clashes[0]),
            )
        )
    found = (
        Identity.objects.select_related("user")
        .filter(provider=provider, subject=person.subject)
        .first()
    )
    if found is None:
        raise NotPermitted(
            Message(
                "{name} identified you, but none of your groups grants access. Contact an "
                "administrator.",
                name=provider.name,
            )
        )
    return found


def sync_people(
    provider: Provider,
    people: Sequence[ProviderPerson],
    *,
    actor: str = "",
    accepted: frozenset[UUID] = frozenset(),
    links: Mapping[str, UUID] | None = None,
    is_dry: bool = False,
) -> SyncResult:
    """Make the rows match the provider's full list; people who are not on it count as removed.

    Changes nothing if the plan removes too much access (`accepted`: accounts whose loss is
    confirmed). Each batch of a thousand people is one transaction, so the next run continues where
    a killed run stopped.
    """
    made = plan_of(provider, people, is_whole=True, links=links)
    objection = made.objection(accepted)
    if is_dry or objection:
        return SyncResult(made, objection)
    if made.is_empty:
        follow_names(provider, people, actor=actor or _name(provider))
        return SyncResult(made, is_done=True)
    named = {person.subject: person for person in people}
    for subjects in _steps(_subjects_in(provider, made)):
        _apply_in_transaction(
            provider,
            [named[s] for s in subjects if s in named],
            subjects,
            actor=actor or _name(provider),
            links=links or {},
        )
    follow_names(provider, people, actor=actor or _name(provider))
    return SyncResult(made, is_done=True)


def update_people(
    provider: Provider,
    people: Sequence[ProviderPerson],
    gone: Sequence[str] = (),
    *,
    actor: str = "",
) -> ProvisioningPlan:
    """Apply a partial update: upsert `people`, and mark the subjects `gone` as removed.

    Other people are not affected, so the removal threshold does not apply.
    """
    subjects = [*(person.subject for person in people), *gone]
    made = plan(rules_of(provider), people, world_of(provider, people, subjects))
    applied = (
        made
        if made.is_empty
        else _apply_in_transaction(
            provider, people, subjects, actor=actor or _name(provider), links={}
        )
    )
    follow_names(provider, people, actor=actor or _name(provider))
    return applied


def plan_of(
    provider: Provider,
    people: Sequence[ProviderPerson],
    *,
    is_whole: bool = False,
    links: Mapping[str, UUID] | None = None,
) -> ProvisioningPlan:
    """Plan the changes; `is_whole` says that `people` is the provider's complete list."""
    subjects = None if is_whole else [person.subject for person in people]
    return plan(
        rules_of(provider), people, world_of(provider, people, subjects, links or {}), links=links
    )


@platform_scope(_WHY)
def rules_of(provider: Provider) -> list[Rule]:
    """Return the group rules of a provider in order."""
    rows = (
        GroupRule.objects.filter(provider=provider)
        .order_by("position")
        .values_list("group", "org_id", "team_id", "role")
    )
    return [Rule(*row) for row in rows]


def world_of(
    provider: Provider,
    people: Sequence[ProviderPerson],
    subjects: Sequence[str] | None = None,
    links: Mapping[str, UUID] | None = None,
) -> ProvisioningState:
    """Load the current rows of these subjects (None: of every subject of the provider)."""
    with platform_scope(_WHY):
        known = list(_known(provider, subjects))
        met = {k.subject for k in known}
        taken = _taken(
            [person.email for person in people if person.subject not in met and person.email]
        )
        users = None if subjects is None else {k.user_id for k in known}
        seats = list(_seats(provider, users, set((links or {}).values())))
        return ProvisioningState(
            provider.id,
            provider.org_id,
            known,
            seats,
            taken,
            _owners(seats),
            _operators(known, {person.subject for person in people}),
            sum(not k.is_gone for k in known),
            removed_by_other_providers(provider, [k.user_id for k in known if not k.is_active]),
            provider.domains if provider.org_id else None,
        )


@transaction.atomic(savepoint=False)
def apply(made: ProvisioningPlan, provider: Provider, *, actor: str) -> None:
    """Write a plan with its events, and revoke the tokens of people who lose access."""
    with platform_scope(_WHY):
        _make_people(provider, made.newcomers)
        _save_identities(provider, [after for _, after in made.identities])
        _save_seats(Membership, [c for c in made.changes if c.seat.team_id is None])
        _save_seats(TeamMembership, [c for c in made.changes if c.seat.team_id is not None])
        for known, is_active in ((made.off, False), (made.on, True)):
            for some in _chunks([k.user_id for k in known]):
                User.objects.filter(id__in=some, suspended_at=None).update(is_active=is_active)
        _end_tokens(made)
        if gone := [after.user_id for _, after in made.identities if after.is_gone]:
            revoke_vouched(
                provider.id, gone, by=actor, why="its identity provider no longer lists its owner"
            )
        _end_guarantees(made, actor)
    record_all(plan_events(made, provider, actor))


def _apply_in_transaction(
    provider: Provider,
    people: Sequence[ProviderPerson],
    subjects: Sequence[str],
    *,
    actor: str,
    links: Mapping[str, UUID],
) -> ProvisioningPlan:
    """Plan again with the organizations locked, and write the result.

    Retries once, to pick up an account that a concurrent request created.
    """
    for attempt in (1, 2):
        try:
            with transaction.atomic():
                _lock_organizations(provider)
                made = plan(
                    rules_of(provider),
                    people,
                    world_of(provider, people, subjects, links),
                    links=links,
                )
                if not made.is_empty:
                    apply(made, provider, actor=actor)
                return made
        except IntegrityError:
            if attempt == 2:
                raise
    raise AssertionError("unreachable")


def _lock_organizations(provider: Provider) -> None:
    """Lock every organization that the provider may change, in a fixed order to avoid deadlocks."""
    with platform_scope(_WHY):
        places = Q(id=provider.org_id) | Q(
            id__in=GroupRule.objects.filter(provider=provider).values("org_id")
        )
        given = Q(id__in=Membership.objects.filter(provider=provider).values("org_id"))
        list(
            Organization.objects.select_for_update(no_key=True)
            .filter(places | given)
            .order_by("id")
            .values_list("id")
        )


def _subjects_in(provider: Provider, made: ProvisioningPlan) -> list[str]:
    """Return the subjects of everyone whom the plan changes, grouped by account."""
    users = {c.seat.user_id for c in made.changes} | {k.user_id for k in (*made.off, *made.on)}
    users |= {before.user_id for before, _ in made.identities}
    rows = sorted(Identity.objects.filter(provider=provider).values_list("user_id", "subject"))
    return [subject for user_id, subject in rows if user_id in users] + [
        n.person.subject for n in made.newcomers
    ]


def _steps(subjects: Sequence[str]) -> Iterator[Sequence[str]]:
    return (subjects[start : start + BATCH] for start in range(0, len(subjects), BATCH))


def _known(provider: Provider, subjects: Sequence[str] | None) -> Iterator[LinkedIdentity]:
    rows = Identity.objects.filter(provider=provider)
    for some in [None] if subjects is None else _chunks(list(subjects)):
        found = rows if some is None else rows.filter(subject__in=some)
        for row in found.values_list(
            "id",
            "subject",
            "user_id",
            "user__email",
            "login",
            "groups",
            "gone_since",
            "user__is_active",
            "user__is_operator",
            "email",
        ):
            yield LinkedIdentity(
                row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6] is not None, *row[7:]
            )


def _seats(
    provider: Provider, users: set[UUID] | None, more: set[UUID]
) -> Iterator[RoleAssignment]:
    """Return the roles of `users` (None: all users of the provider) and of `more`."""
    here = Q() if provider.org_id is None else Q(org_id=provider.org_id)
    fields = ("id", "org_id", "user_id", "role", "provider_id", "via")
    everybody = (
        [Q(user_id__in=Identity.objects.filter(provider=provider).values("user_id"))]
        if users is None
        else []
    )
    for who in everybody + [
        Q(user_id__in=some) for some in _chunks(sorted((users or set()) | more))
    ]:
        for row in Membership.objects.filter(here & who).values_list(*fields, "suspended_at"):
            yield RoleAssignment(
                row[0], row[1], None, row[2], row[3], row[4], row[5], row[6] is not None
            )
        for row in TeamMembership.objects.filter(here & who).values_list(*fields, "team_id"):
            yield RoleAssignment(row[0], row[1], row[6], *row[2:6])


def _taken(emails: list[str]) -> dict[str, UUID]:
    rows = [
        User.objects.filter(email__in=some).values_list("email", "id") for some in _chunks(emails)
    ]
    return {email: user_id for some in rows for email, user_id in some}


def _owners(seats: Iterable[RoleAssignment]) -> dict[UUID, frozenset[UUID]]:
    """Return the active owners of each organization that one of these people owns."""
    orgs = {seat.org_id for seat in seats if seat.role == OrgRole.OWNER and seat.team_id is None}
    rows = (
        Membership.objects.filter(
            org_id__in=orgs, role=OrgRole.OWNER, suspended_at=None, user__is_active=True
        )
        if orgs
        else ()
    )
    found: dict[UUID, set[UUID]] = {}
    for row in rows:
        found.setdefault(row.org_id, set()).add(row.user_id)
    return {org_id: frozenset(users) for org_id, users in found.items()}


def _operators(known: Iterable[LinkedIdentity], named: set[str]) -> frozenset[UUID]:
    """Return the active operators; empty, without a query, unless one of them was removed."""
    if not any(k.is_operator and k.subject not in named for k in known):
        return frozenset()
    return frozenset(
        User.objects.filter(is_operator=True, is_active=True).values_list("id", flat=True)
    )


def _make_people(provider: Provider, newcomers: Sequence[NewIdentity]) -> None:
    at = clock.now()
    insert_rows(
        User,
        (
            "id",
            "email",
            "name",
            "password",
            "is_active",
            "is_operator",
            "is_service",
            "has_second_factor",
            "date_joined",
        ),
        [
            (
                n.user_id,
                n.person.email,
                n.person.name[:150],
                make_password(None),
                True,
                False,
                False,
                False,
                at,
            )
            for n in newcomers
            if not n.is_linked
        ],
    )
    insert_rows(
        Identity,
        ("id", "provider", "subject", "user", "login", "email", "groups", "seen_at"),
        [
            (
                n.id,
                provider.id,
                n.person.subject,
                n.user_id,
                n.person.login,
                n.person.email,
                sorted(n.person.groups),
                at,
            )
            for n in newcomers
        ],
    )


def _save_identities(provider: Provider, after: Sequence[LinkedIdentity]) -> None:
    at = clock.now()
    rows = [
        Identity(
            id=k.id,
            provider=provider,
            subject=k.subject,
            user_id=k.user_id,
            login=k.login,
            email=k.said,
            groups=list(k.groups),
            seen_at=at,
            gone_since=at if k.is_gone else None,
        )
        for k in after
    ]
    here, gone = (
        [row for row in rows if not row.gone_since],
        [row.id for row in rows if row.gone_since],
    )
    Identity.objects.bulk_create(
        here,
        update_conflicts=True,
        unique_fields=["id"],
        batch_size=_IN,
        update_fields=["login", "email", "groups", "seen_at", "gone_since"],
    )
    for some in _chunks(gone):
        Identity.objects.filter(id__in=some).update(gone_since=at)


def _save_seats(model: Any, changes: Sequence[RoleChange]) -> None:
    at = clock.now()
    place = ("id", "org_id", "user_id", "role", "provider_id", "via") + (
        () if model is Membership else ("team_id",)
    )
    names = [name.removesuffix("_id") for name in place]
    insert_rows(
        model,
        [*names, "created_at"],
        [[*(getattr(c.seat, name) for name in place), at] for c in changes if c.before is None],
    )
    changed = [
        model(**{name: getattr(c.after, name) for name in place}, created_at=at)
        for c in changes
        if c.before and c.after
    ]
    for row, change in zip(changed, (c for c in changes if c.before and c.after), strict=True):
        if change.seat.is_suspended:
            row.suspended_at = at
    model.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["id"],
        batch_size=_IN,
        update_fields=["role", "via"] + (["suspended_at"] if model is Membership else []),
    )
    for some in _chunks([c.seat.id for c in changes if c.after is None]):
        model.objects.filter(id__in=some).delete()


def _end_tokens(made: ProvisioningPlan) -> None:
    """Revoke the access tokens that the losses in a plan affect.

    A suspension revokes the organization's tokens, leaving a team those bound to the team, a
    deactivated account all.
    """
    ended: dict[tuple[UUID | None, UUID | None], list[UUID]] = {
        (None, None): [k.user_id for k in made.off]
    }
    for change in made.changes:
        if change.is_loss:
            ended.setdefault((change.seat.org_id, change.seat.team_id), []).append(
                change.seat.user_id
            )
    for (org_id, team_id), users in ended.items():
        where = {name: value for name, value in (("org_id", org_id), ("team_id", team_id)) if value}
        for some in _chunks(users):
            AccessToken.objects.filter(user_id__in=some, revoked_at=None, **where).update(
                revoked_at=clock.now()
            )


def _end_guarantees(made: ProvisioningPlan, actor: str) -> None:
    """End the guarantees of the people whom the plan suspends in an organization."""
    left: dict[UUID, list[UUID]] = {}
    for change in made.changes:
        if change.is_loss and change.seat.team_id is None:
            left.setdefault(change.seat.org_id, []).append(change.seat.user_id)
    for org_id in sorted(left):
        end_guarantees(org_id, left[org_id], by=actor)


def _chunks(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + _IN] for start in range(0, len(values), _IN)]


def _name(provider: Provider) -> str:
    return f"directory {provider.slug}"


def _describe(clash: ProvisioningConflict) -> str:
    return Message.joined(" ", (clash.person.login or clash.person.subject, clash.why))
