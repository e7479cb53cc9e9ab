"""What a provider's groups change: rules, people with their groups and the rows as they are → a plan. Pure, so that a dry run, a
sign-in, a sync and SCIM cannot differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from portal.core.ids import uuid7
from workspaces.access.permissions import OrgRole

EVERYBODY = "*"
SHARE, FEW = (
    0.2,
    5,
)  # of the people a provider had given, so many may lose something without anybody's word
Place = tuple[UUID, UUID | None]  # an organization, and a team of it or None
Given = dict[Place, tuple[str, str]]  # the role there, and the group that gives it


@dataclass(frozen=True)
class Rule:
    """Who is in `group` has `role` in the organization (team None) or the team."""

    group: str
    org_id: UUID
    team_id: UUID | None
    role: str


@dataclass(frozen=True)
class Person:
    """Somebody whom a provider names now."""

    subject: str
    email: str
    name: str = ""
    login: str = ""
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Known:
    """An identity of the provider with its account, as the rows say. `email` is the account's, `said` what the provider last said."""

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
class Seat:
    """A role as the rows have it; `provider_id` None: given by hand."""

    id: UUID
    org_id: UUID
    team_id: UUID | None
    user_id: UUID
    role: str
    provider_id: UUID | None = None
    via: str = ""
    is_suspended: bool = False


@dataclass(frozen=True)
class World:
    """What is there of the people looked at. Identities in it that nobody names any longer have vanished: a sign-in therefore
    holds one only. `org_id` None: a provider of the whole installation. `had`: identities of the provider that are not gone."""

    provider_id: UUID
    org_id: UUID | None
    known: Sequence[Known] = ()
    seats: Sequence[Seat] = ()
    taken: Mapping[str, UUID] = field(
        default_factory=dict
    )  # addresses that have an account, of those asked about
    owners: Mapping[UUID, frozenset[UUID]] = field(
        default_factory=dict
    )  # of each organization, those who count
    operators: frozenset[UUID] = frozenset()
    had: int = 0
    shut_elsewhere: frozenset[UUID] = (
        frozenset()
    )  # accounts switched off that another provider of the installation says are gone
    domains: Sequence[str] | None = (
        None  # where it makes accounts: an organization's provider in those it was given, others everywhere
    )


@dataclass(frozen=True)
class Newcomer:
    """An identity to be made; and its account, unless that is there (`is_linked`: somebody accepted the pair)."""

    person: Person
    id: UUID
    user_id: UUID
    is_linked: bool = False


@dataclass(frozen=True)
class Clash:
    """Somebody who is left out, and why."""

    person: Person
    why: str


@dataclass(frozen=True)
class Change:
    """Of a role. `before` None: given; `after` None: taken; else both are of the same row."""

    before: Seat | None
    after: Seat | None

    @property
    def seat(self) -> Seat:
        seat = self.after or self.before
        assert seat is not None
        return seat

    @property
    def is_loss(self) -> bool:
        return self.after is None or (
            self.after.is_suspended and not (self.before and self.before.is_suspended)
        )


@dataclass
class Plan:
    """What is to be written, in the order of the people's subjects."""

    newcomers: list[Newcomer] = field(default_factory=list)
    identities: list[tuple[Known, Known]] = field(default_factory=list)  # before, after
    changes: list[Change] = field(default_factory=list)
    off: list[Known] = field(default_factory=list)
    on: list[Known] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    spared: list[tuple[UUID, str]] = field(
        default_factory=list
    )  # account, why nothing is taken from it
    had: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.newcomers or self.identities or self.changes or self.off or self.on)

    @property
    def losses(self) -> frozenset[UUID]:
        """Accounts that would be switched off or lose a role."""
        return frozenset(k.user_id for k in self.off) | {
            c.seat.user_id for c in self.changes if c.is_loss
        }

    def objection(self, accepted: frozenset[UUID] = frozenset()) -> str:
        """Why this must not happen by itself; empty when it may. `accepted`: losses that somebody has agreed to."""
        losses = len(self.losses - accepted)
        if losses > max(FEW, int(self.had * SHARE)) or (losses and losses >= self.had):
            return (
                f"It would take access from {losses} of the {self.had} people it had named, so nothing was changed. "
                "Look at the directory first; if this is right, accept it."
            )
        return ""


def plan(
    rules: Sequence[Rule],
    people: Iterable[Person],
    world: World,
    *,
    links: Mapping[str, UUID] | None = None,
    new_id: Callable[[], UUID] = uuid7,
) -> Plan:
    """Everything that must change for the rows to say what the provider says. `links`: accounts that somebody accepted for
    subjects whose address is taken. Applied, and planned again, it is empty."""
    made, known = Plan(had=world.had), {k.subject: k for k in world.known}
    seats: dict[UUID, dict[Place, Seat]] = defaultdict(dict)
    for seat in world.seats:
        seats[seat.user_id][seat.org_id, seat.team_id] = seat
    mine, named = _Provided(rules, world), {person.subject: person for person in people}
    seen = {k.user_id for subject, k in known.items() if subject in named}
    meeting = _Meeting(
        dict(world.taken),
        {s: u for s, u in (links or {}).items() if u not in seen},
        new_id,
        world.domains,
    )
    for subject, person in sorted(named.items()):
        given, before = mine.given(person.groups), known.pop(subject, None)
        user_id = (
            _see(made, person, before, mine) if before else _meet(made, person, given, meeting)
        )
        if user_id:
            made.changes += mine.changes(user_id, given, seats[user_id], new_id)
            seen.add(user_id)
    for gone in known.values():
        _miss(made, gone, mine, seats[gone.user_id], is_here=gone.user_id in seen)
    _spare(made, world)
    return made


@dataclass
class _Meeting:
    """What newcomers are held against."""

    taken: dict[str, UUID]
    links: Mapping[str, UUID]
    new_id: Callable[[], UUID]
    domains: Sequence[str] | None


class _Provided:
    """One provider's rules, and what is its to give and to take."""

    def __init__(self, rules: Sequence[Rule], world: World):
        self.provider_id, self.org_id, self.shut_elsewhere = (
            world.provider_id,
            world.org_id,
            world.shut_elsewhere,
        )
        self._rules = [rule for rule in rules if world.org_id in (None, rule.org_id)]

    def given(self, groups: frozenset[str]) -> Given:
        """The first rule that fits decides, for each place. A role in a team makes a member of its organization."""
        given: Given = {}
        for rule in self._rules:
            if rule.group == EVERYBODY or rule.group in groups:
                given.setdefault((rule.org_id, rule.team_id), (rule.role, rule.group))
        for (org_id, team_id), (_, via) in list(given.items()):
            if team_id is not None:
                given.setdefault((org_id, None), (OrgRole.MEMBER, via))
        return given

    def changes(
        self, user_id: UUID, given: Given, seats: Mapping[Place, Seat], new_id: Callable[[], UUID]
    ) -> Iterable[Change]:
        for (org_id, team_id), (role, via) in given.items():
            before = seats.get((org_id, team_id))
            if before is None:
                yield Change(
                    None, Seat(new_id(), org_id, team_id, user_id, role, self.provider_id, via)
                )
            elif (
                self.is_mine(before)
                and (after := replace(before, role=role, via=via, is_suspended=False)) != before
            ):
                yield Change(before, after)
        yield from (
            self.taken(seat)
            for place, seat in seats.items()
            if place not in given and self.has_given(seat)
        )

    def is_mine(self, seat: Seat) -> bool:
        return seat.provider_id == self.provider_id

    def has_given(self, seat: Seat) -> bool:
        return self.is_mine(seat) and not seat.is_suspended

    def taken(self, seat: Seat) -> Change:
        """A team is left; in an organization one is suspended, so that roles given by hand in its teams wait for the return."""
        return Change(seat, None if seat.team_id else replace(seat, is_suspended=True))


def _meet(made: Plan, person: Person, given: Given, meeting: _Meeting) -> UUID | None:
    """Somebody new; no account is made for whom no rule gives anything."""
    if not given:
        return None
    if not person.email:
        made.clashes.append(Clash(person, "has no e-mail address there"))
        return None
    if meeting.domains is not None and person.email.rpartition("@")[2] not in meeting.domains:
        why = (
            "which it does not speak for here"
            if meeting.domains
            else "and an operator gave this provider no e-mail domains: it makes no accounts"
        )
        made.clashes.append(Clash(person, f"has the address {person.email}, {why}"))
        return None
    holder = meeting.taken.get(person.email)
    if holder is not None and meeting.links.get(person.subject) != holder:
        made.clashes.append(
            Clash(person, f"{person.email} has an account already that is not linked")
        )
        return None
    user_id = meeting.taken[person.email] = holder or meeting.new_id()
    made.newcomers.append(Newcomer(person, meeting.new_id(), user_id, is_linked=holder is not None))
    return user_id


def _see(made: Plan, person: Person, before: Known, mine: _Provided) -> UUID:
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


def _miss(
    made: Plan, gone: Known, mine: _Provided, seats: Mapping[Place, Seat], *, is_here: bool
) -> None:
    """Nobody is deleted: switched off on the whole installation, or suspended in the provider's own organization. Who is switched
    off already, by hand, is not marked as gone, so that their return does not switch them on; whom another provider switched off is,
    so that both must name them again. `is_here`: under another subject."""
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


def _spare(made: Plan, world: World) -> None:
    """An organization keeps its last owner, and the installation its last operator, whatever a directory says."""
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


def _is_owners(seat: Seat | None) -> bool:
    return (
        seat is not None
        and seat.team_id is None
        and seat.role == OrgRole.OWNER
        and not seat.is_suspended
    )


def _lost_owners(made: Plan, org_id: UUID) -> set[UUID]:
    return {
        c.seat.user_id
        for c in made.changes
        if c.seat.org_id == org_id and _is_owners(c.before) and not _is_owners(c.after)
    }


def _made_owners(made: Plan, org_id: UUID, idle: set[UUID]) -> set[UUID]:
    return {
        c.seat.user_id for c in made.changes if c.seat.org_id == org_id and _is_owners(c.after)
    } - idle
