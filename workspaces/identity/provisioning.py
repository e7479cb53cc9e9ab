"""Plan the role changes that follow from a provider's groups.

Group rules, people with their groups and the current rows give a plan. The functions are pure, so
dry runs, sign-ins, syncs and SCIM cannot differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from portal.core.ids import uuid7
from portal.core.messages import Message
from workspaces.access.permissions import OrgRole

EVERYONE = "*"
# Share and number of a provider's people who may lose access without confirmation.
SHARE, FEW = 0.2, 5
Place = tuple[UUID, UUID | None]  # an organization, and a team in it or None
Given = dict[Place, tuple[str, str]]  # the role there, and the group that grants it


@dataclass(frozen=True)
class Rule:
    """A role granted to the members of `group`, in the organization (team None) or in the team."""

    group: str
    org_id: UUID
    team_id: UUID | None
    role: str


@dataclass(frozen=True)
class ProviderPerson:
    """A person as the provider describes them now.

    `instead` is what was sent in place of a usable address, quoted.
    """

    subject: str
    email: str
    name: str = ""
    login: str = ""
    groups: frozenset[str] = frozenset()
    instead: str = ""


@dataclass(frozen=True)
class LinkedIdentity:
    """A stored identity of the provider with its account.

    `email` is the account's address, `said` the one that the provider sent last.
    """

    id: UUID
    subject: str
    user_id: UUID
    email: str
    login: str = ""
    groups: tuple[str, ...] = ()
    is_gone: bool = False
    is_active: bool = True
    is_operator: bool = False
    said: str = ""


@dataclass(frozen=True)
class RoleAssignment:
    """A stored role; `provider_id` is None for a role granted manually."""

    id: UUID
    org_id: UUID
    team_id: UUID | None
    user_id: UUID
    role: str
    provider_id: UUID | None = None
    via: str = ""
    is_suspended: bool = False


@dataclass(frozen=True)
class ProvisioningState:
    """The current state of the people considered.

    An identity in it that the provider no longer lists counts as removed, so a sign-in loads only
    one. `org_id` is None for a provider of the whole installation. `had` is the number of the
    provider's identities that are not marked as removed.
    """

    provider_id: UUID
    org_id: UUID | None
    known: Sequence[LinkedIdentity] = ()
    seats: Sequence[RoleAssignment] = ()
    # existing accounts by e-mail address, for the addresses looked up
    taken: Mapping[str, UUID] = field(default_factory=dict)
    # active owners by organization
    owners: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    operators: frozenset[UUID] = frozenset()
    had: int = 0
    # deactivated accounts that another provider of the installation reports as removed
    shut_elsewhere: frozenset[UUID] = frozenset()
    # E-mail domains in which it may create accounts; None: no restriction.
    domains: Sequence[str] | None = None


@dataclass(frozen=True)
class NewIdentity:
    """An identity to create, with its account unless an existing one was accepted (`is_linked`)."""

    person: ProviderPerson
    id: UUID
    user_id: UUID
    is_linked: bool = False


@dataclass(frozen=True)
class ProvisioningConflict:
    """A person who is skipped, and why."""

    person: ProviderPerson
    why: str


@dataclass(frozen=True)
class RoleChange:
    """A change of a role: a grant (`before` is None), a removal (`after` is None) or an update."""

    before: RoleAssignment | None
    after: RoleAssignment | None

    @property
    def seat(self) -> RoleAssignment:
        seat = self.after or self.before
        assert seat is not None
        return seat

    @property
    def is_loss(self) -> bool:
        return self.after is None or (
            self.after.is_suspended and not (self.before and self.before.is_suspended)
        )


@dataclass
class ProvisioningPlan:
    """The rows to write, ordered by subject."""

    newcomers: list[NewIdentity] = field(default_factory=list)
    identities: list[tuple[LinkedIdentity, LinkedIdentity]] = field(
        default_factory=list
    )  # before, after
    changes: list[RoleChange] = field(default_factory=list)
    off: list[LinkedIdentity] = field(default_factory=list)
    on: list[LinkedIdentity] = field(default_factory=list)
    clashes: list[ProvisioningConflict] = field(default_factory=list)
    spared: list[tuple[UUID, str]] = field(default_factory=list)  # account, why it loses nothing
    had: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.newcomers or self.identities or self.changes or self.off or self.on)

    @property
    def losses(self) -> frozenset[UUID]:
        """Return the accounts that would be deactivated or lose a role."""
        return frozenset(k.user_id for k in self.off) | {
            c.seat.user_id for c in self.changes if c.is_loss
        }

    def objection(self, accepted: frozenset[UUID] = frozenset()) -> str:
        """Return why this plan needs confirmation, or an empty string if it does not.

        `accepted` holds the accounts whose loss is already confirmed.
        """
        losses = len(self.losses - accepted)
        if losses > max(FEW, int(self.had * SHARE)) or (losses and losses >= self.had):
            return Message(
                "This would remove access from {losses} of the {had} people of this provider, "
                "so nothing was changed. Check the directory, then accept the change if it is "
                "correct.",
                losses=losses,
                had=self.had,
            )
        return ""


def plan(
    rules: Sequence[Rule],
    people: Iterable[ProviderPerson],
    world: ProvisioningState,
    *,
    links: Mapping[str, UUID] | None = None,
    new_id: Callable[[], UUID] = uuid7,
) -> ProvisioningPlan:
    """Plan all changes that make the rows match the provider.

    `links` maps subjects whose address is taken to the accounts accepted for them. The plan is
    idempotent: once applied, planning again gives an empty plan.
    """
    made, known = ProvisioningPlan(had=world.had), {k.subject: k for k in world.known}
    seats: dict[UUID, dict[Place, RoleAssignment]] = defaultdict(dict)
    for seat in world.seats:
        seats[seat.user_id][seat.org_id, seat.team_id] = seat
    mine, named = _Provided(rules, world), {person.subject: person for person in people}
    seen = {k.user_id for subject, k in known.items() if subject in named}
    meeting = _NewAccounts(
        dict(world.taken),
        {s: u for s, u in (links or {}).items() if u not in seen},
        new_id,
        world.domains,
    )
    for subject, person in sorted(named.items()):
        given, before = mine.given(person.groups), known.pop(subject, None)
        user_id = (
            _plan_known(made, person, before, mine)
            if before
            else _plan_new(made, person, given, meeting)
        )
        if user_id:
            made.changes += mine.changes(user_id, given, seats[user_id], new_id)
            seen.add(user_id)
    for gone in known.values():
        _plan_removed(made, gone, mine, seats[gone.user_id], is_here=gone.user_id in seen)
    _keep_last_owners(made, world)
    return made


@dataclass
class _NewAccounts:
    """Existing accounts and limits that new people are checked against."""

    taken: dict[str, UUID]
    links: Mapping[str, UUID]
    new_id: Callable[[], UUID]
    domains: Sequence[str] | None


class _Provided:
    """The rules of one provider, and the roles that it may grant and remove."""

    def __init__(self, rules: Sequence[Rule], world: ProvisioningState):
        self.provider_id, self.org_id, self.shut_elsewhere = (
            world.provider_id,
            world.org_id,
            world.shut_elsewhere,
        )
        self._rules = [rule for rule in rules if world.org_id in (None, rule.org_id)]

    def given(self, groups: frozenset[str]) -> Given:
        """Return the roles that these groups grant: in each place, the first matching rule applies.

        A role in a team also grants membership of its organization.
        """
        given: Given = {}
        for rule in self._rules:
            if rule.group == EVERYONE or rule.group in groups:
                given.setdefault((rule.org_id, rule.team_id), (rule.role, rule.group))
        for (org_id, team_id), (_, via) in list(given.items()):
            if team_id is not None:
                given.setdefault((org_id, None), (OrgRole.MEMBER, via))
        return given

    def changes(
        self,
        user_id: UUID,
        given: Given,
        seats: Mapping[Place, RoleAssignment],
        new_id: Callable[[], UUID],
    ) -> Iterable[RoleChange]:
        for (org_id, team_id), (role, via) in given.items():
            before = seats.get((org_id, team_id))
            if before is None:
                yield RoleChange(
                    None,
                    RoleAssignment(new_id(), org_id, team_id, user_id, role, self.provider_id, via),
                )
            elif (
                self.is_mine(before)
                and (after := replace(before, role=role, via=via, is_suspended=False)) != before
            ):
                yield RoleChange(before, after)
        yield from (
            self.taken(seat)
            for place, seat in seats.items()
            if place not in given and self.has_given(seat)
        )

    def is_mine(self, seat: RoleAssignment) -> bool:
        return seat.provider_id == self.provider_id

    def has_given(self, seat: RoleAssignment) -> bool:
        return self.is_mine(seat) and not seat.is_suspended

    def taken(self, seat: RoleAssignment) -> RoleChange:
        """Remove a team role, or suspend an organization role to keep its manual team roles."""
        return RoleChange(seat, None if seat.team_id else replace(seat, is_suspended=True))


def _plan_new(
    made: ProvisioningPlan, person: ProviderPerson, given: Given, meeting: _NewAccounts
) -> UUID | None:
    """Plan an account for a new person, unless no rule grants them a role."""
    if not given:
        return None
    if not person.email:
        why = (
            f"has no usable e-mail address in the directory, only {person.instead}"
            if person.instead
            else "has no e-mail address in the directory"
        )
        made.clashes.append(ProvisioningConflict(person, why))
        return None
    if meeting.domains is not None and person.email.rpartition("@")[2] not in meeting.domains:
        why = (
            "in a domain not assigned to this provider"
            if meeting.domains
            else "and this provider has no e-mail domains assigned, so it can't create accounts"
        )
        made.clashes.append(ProvisioningConflict(person, f"has the address {person.email}, {why}"))
        return None
    holder = meeting.taken.get(person.email)
    if holder is not None and meeting.links.get(person.subject) != holder:
        made.clashes.append(
            ProvisioningConflict(
                person, f"{person.email} has an account already, which isn't linked"
            )
        )
        return None
    user_id = meeting.taken[person.email] = holder or meeting.new_id()
    made.newcomers.append(
        NewIdentity(person, meeting.new_id(), user_id, is_linked=holder is not None)
    )
    return user_id


def _plan_known(
    made: ProvisioningPlan, person: ProviderPerson, before: LinkedIdentity, mine: _Provided
) -> UUID:
    after = replace(
        before,
        login=person.login,
        groups=tuple(sorted(person.groups)),
        is_gone=False,
        said=person.email,
    )
    if after != before:
        made.identities.append((before, after))
    if (
        before.is_gone
        and not before.is_active
        and mine.org_id is None
        and before.user_id not in mine.shut_elsewhere
    ):
        made.on.append(before)
    return before.user_id


def _plan_removed(
    made: ProvisioningPlan,
    gone: LinkedIdentity,
    mine: _Provided,
    seats: Mapping[Place, RoleAssignment],
    *,
    is_here: bool,
) -> None:
    """Plan the removal of a person whom the provider no longer lists; nothing is deleted.

    The account is deactivated (provider of the installation) or suspended in the provider's own
    organization. An account that was deactivated manually is not marked as removed, so a return
    does not activate it. One that another provider deactivated is marked, so both must list the
    person again. `is_here`: the person is listed under another subject.
    """
    is_off = mine.org_id is None and not is_here and not gone.is_active
    if is_off and gone.user_id not in mine.shut_elsewhere:
        return
    if not gone.is_gone:
        made.identities.append((gone, replace(gone, is_gone=True)))
    if is_here or is_off:
        return
    if mine.org_id is None:
        made.off.append(gone)
    else:
        made.changes += [
            mine.taken(seat)
            for seat in seats.values()
            if seat.team_id is None and mine.has_given(seat)
        ]


def _keep_last_owners(made: ProvisioningPlan, world: ProvisioningState) -> None:
    """Keep the last owner of each organization and the last operator of the installation."""
    off, back = {k.user_id for k in made.off}, {k.user_id for k in made.on}
    idle = off | ({k.user_id for k in world.known if not k.is_active} - back)
    spared: dict[UUID, str] = {}
    if world.operators and world.operators <= off:
        spared[min(world.operators)] = "the last operator of this installation"
    for org_id, owners in sorted(world.owners.items()):
        returning = {
            s.user_id
            for s in world.seats
            if s.org_id == org_id and s.user_id in back and _is_owners(s)
        }
        if owners and not (owners | returning | _made_owners(made, org_id, idle)) - (
            off | _lost_owners(made, org_id)
        ):
            spared.setdefault(min(owners), "the last owner of an organization")
    made.off = [k for k in made.off if k.user_id not in spared]
    made.changes = [
        c
        for c in made.changes
        if not (c.seat.user_id in spared and _is_owners(c.before) and not _is_owners(c.after))
    ]
    made.spared = sorted(spared.items())


def _is_owners(seat: RoleAssignment | None) -> bool:
    return (
        seat is not None
        and seat.team_id is None
        and seat.role == OrgRole.OWNER
        and not seat.is_suspended
    )


def _lost_owners(made: ProvisioningPlan, org_id: UUID) -> set[UUID]:
    return {
        c.seat.user_id
        for c in made.changes
        if c.seat.org_id == org_id and _is_owners(c.before) and not _is_owners(c.after)
    }


def _made_owners(made: ProvisioningPlan, org_id: UUID, idle: set[UUID]) -> set[UUID]:
    return {
        c.seat.user_id for c in made.changes if c.seat.org_id == org_id and _is_owners(c.after)
    } - idle
