"""Sync plans, compared with a second, naive implementation of the rules."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from workspaces.identity.provisioning import (
    LinkedIdentity,
    ProviderPerson,
    ProvisioningState,
    RoleAssignment,
    Rule,
    plan,
)

PROVIDER, OTHER = UUID(int=1), UUID(int=2)
ORGS = [UUID(int=100), UUID(int=101)]
TEAMS = {UUID(int=200): ORGS[0], UUID(int=201): ORGS[0], UUID(int=202): ORGS[1]}
GROUPS = ["cn=a", "cn=b", "cn=c"]
SUBJECTS = [f"s{n}" for n in range(6)]

places = st.sampled_from(
    [(org, None) for org in ORGS] + [(org, team) for team, org in TEAMS.items()]
)


def user_of(subject: str) -> UUID:
    return UUID(int=1000 + int(subject[1:]))


@st.composite
def rules(draw):
    found = []
    for _ in range(draw(st.integers(0, 6))):
        org, team = draw(places)
        roles = ["lead", "member", "viewer"] if team else ["owner", "admin", "member", "viewer"]
        found.append(
            Rule(draw(st.sampled_from([*GROUPS, "*"])), org, team, draw(st.sampled_from(roles)))
        )
    return found


@st.composite
def people(draw):
    subjects = draw(st.sets(st.sampled_from(SUBJECTS)))
    return [
        ProviderPerson(
            s, f"{s}@x.example", groups=frozenset(draw(st.sets(st.sampled_from(GROUPS))))
        )
        for s in sorted(subjects)
    ]


@st.composite
def worlds(draw):
    org_id = draw(st.sampled_from([None, ORGS[0]]))
    known = [
        LinkedIdentity(
            UUID(int=3000 + n),
            s,
            user_of(s),
            f"{s}@x.example",
            groups=tuple(sorted(draw(st.sets(st.sampled_from(GROUPS))))),
            is_gone=draw(st.booleans()),
            is_active=draw(st.booleans()),
        )
        for n, s in enumerate(sorted(draw(st.sets(st.sampled_from(SUBJECTS)))))
    ]
    seats, number = [], 4000
    for k in known:
        for org in ORGS:
            if not draw(st.booleans()):
                continue
            number += 1
            seats.append(
                RoleAssignment(
                    UUID(int=number),
                    org,
                    None,
                    k.user_id,
                    draw(st.sampled_from(["owner", "admin", "member", "viewer"])),
                    draw(st.sampled_from([None, PROVIDER, OTHER])),
                    "cn=a",
                    draw(st.booleans()),
                )
            )
            for team in [t for t, where in TEAMS.items() if where == org and draw(st.booleans())]:
                number += 1
                seats.append(
                    RoleAssignment(
                        UUID(int=number),
                        org,
                        team,
                        k.user_id,
                        draw(st.sampled_from(["lead", "member"])),
                        draw(st.sampled_from([None, PROVIDER, OTHER])),
                        "cn=b",
                    )
                )
    return with_owners(
        ProvisioningState(
            PROVIDER,
            org_id,
            known,
            [s for s in seats if org_id in (None, s.org_id)],
            had=sum(not k.is_gone for k in known),
        )
    )


def with_owners(world: ProvisioningState) -> ProvisioningState:
    active = {k.user_id for k in world.known if k.is_active}
    owners = {
        org: frozenset(
            s.user_id
            for s in world.seats
            if s.org_id == org
            and not s.team_id
            and s.role == "owner"
            and not s.is_suspended
            and s.user_id in active
        )
        for org in ORGS
    }
    return replace(world, owners=owners, had=sum(not k.is_gone for k in world.known))


def applied(world: ProvisioningState, made) -> ProvisioningState:
    """Return the rows after the plan."""
    known = {k.id: k for k in world.known} | {after.id: after for _, after in made.identities}
    for n in made.newcomers:
        known[n.id] = LinkedIdentity(
            n.id,
            n.person.subject,
            n.user_id,
            n.person.email,
            n.person.login,
            tuple(sorted(n.person.groups)),
            said=n.person.email,
        )
    for rows, is_active in ((made.off, False), (made.on, True)):
        for k in rows:
            known[k.id] = replace(known[k.id], is_active=is_active)
    seats = {s.id: s for s in world.seats}
    for change in made.changes:
        seats.pop(change.before.id if change.before else None, None)
        if change.after:
            seats[change.after.id] = change.after
    return with_owners(replace(world, known=list(known.values()), seats=list(seats.values())))


def given_by(rule_list, groups, org_id):
    """Return roles by definition: the first matching rule for each organization or team."""
    fitting = [
        r for r in rule_list if org_id in (None, r.org_id) and (r.group == "*" or r.group in groups)
    ]
    found = {}
    for org, team in {(r.org_id, r.team_id) for r in fitting}:
        found[org, team] = next(r.role for r in fitting if (r.org_id, r.team_id) == (org, team))
    return {(org, None): "member" for org, _ in found} | found


@settings(deadline=None)
@given(rules(), people(), worlds())
def test_plan_applied_twice_is_empty(rule_list, named, world):
    after = applied(world, plan(rule_list, named, world))
    again = plan(rule_list, named, after)
    assert again.is_empty, again


@settings(deadline=None)
@given(rules(), people(), worlds())
def test_plan_keeps_roles_from_other_sources(rule_list, named, world):
    made = plan(rule_list, named, world)
    assert all(c.before is None or c.before.provider_id == PROVIDER for c in made.changes)
    mine = [s for s in applied(world, made).seats if s.provider_id != PROVIDER]
    assert sorted(mine, key=str) == sorted(
        (s for s in world.seats if s.provider_id != PROVIDER), key=str
    )


@settings(deadline=None)
@given(rules(), people(), worlds())
def test_plan_gives_roles_of_first_matching_rules(rule_list, named, world):
    made = plan(rule_list, named, world)
    after, spared = applied(world, made), {user for user, _ in made.spared}
    users = {k.subject: k.user_id for k in after.known}
    for person in named:
        wanted = given_by(rule_list, person.groups, world.org_id)
        if person.subject not in users:
            assert not wanted
            continue
        if users[person.subject] in spared:
            continue
        seats = {
            (s.org_id, s.team_id): s for s in after.seats if s.user_id == users[person.subject]
        }
        for place, role in wanted.items():
            assert place in seats and (
                seats[place].provider_id != PROVIDER
                or (seats[place].role, seats[place].is_suspended) == (role, False)
            )
        living = {
            place for place, s in seats.items() if s.provider_id == PROVIDER and not s.is_suspended
        }
        assert living <= set(wanted)


@settings(deadline=None)
@given(rules(), people(), worlds())
def test_plan_keeps_last_owner(rule_list, named, world):
    after = applied(world, plan(rule_list, named, world))
    assert all(after.owners[org] for org in ORGS if world.owners[org])


def test_plan_counts_reenabled_owner():
    known = [
        LinkedIdentity(UUID(int=1), "s0", user_of("s0"), "s0@x.example"),
        LinkedIdentity(
            UUID(int=2), "s1", user_of("s1"), "s1@x.example", is_gone=True, is_active=False
        ),
    ]
    seats = [
        RoleAssignment(UUID(int=3 + n), ORGS[0], None, k.user_id, "owner")
        for n, k in enumerate(known)
    ]
    made = plan(
        [],
        [ProviderPerson("s1", "s1@x.example")],
        with_owners(ProvisioningState(PROVIDER, None, known, seats)),
    )
    assert (made.off, made.on, made.spared) == ([known[0]], [known[1]], [])


def world_of(count: int, org_id: UUID | None = ORGS[0]) -> ProvisioningState:
    known = [
        LinkedIdentity(UUID(int=3000 + n), f"s{n}", UUID(int=1000 + n), f"s{n}@x.example")
        for n in range(count)
    ]
    seats = [
        RoleAssignment(UUID(int=4000 + n), ORGS[0], None, k.user_id, "member", PROVIDER, "*")
        for n, k in enumerate(known)
    ]
    return ProvisioningState(PROVIDER, org_id, known, seats, had=count)


EVERYBODY = [Rule("*", ORGS[0], None, "member")]


def some(count: int) -> list[ProviderPerson]:
    return [ProviderPerson(f"s{n}", f"s{n}@x.example") for n in range(count)]


def test_plan_empty_answer_is_stopped():
    for count in (1, 3, 5, 100):
        assert f"from {count} of the {count}" in plan(EVERYBODY, [], world_of(count)).objection()


def test_plan_stops_above_loss_threshold():
    assert not plan(EVERYBODY, some(5), world_of(10)).objection()
    assert plan(EVERYBODY, some(4), world_of(10)).objection()
    assert not plan(EVERYBODY, some(80), world_of(100)).objection()
    assert plan(EVERYBODY, some(79), world_of(100)).objection()


def test_plan_ignores_accepted_losses():
    made = plan(EVERYBODY, some(1), world_of(10))
    assert made.objection() and not made.objection(made.losses)
    assert plan(EVERYBODY, [], world_of(10)).objection(frozenset()) and plan(
        EVERYBODY, [], world_of(20)
    ).objection(made.losses)


def test_plan_missing_in_org_directory_suspends_membership_only():
    made = plan(EVERYBODY, some(2), world_of(3))
    assert [(c.seat.user_id, c.seat.is_suspended) for c in made.changes] == [
        (UUID(int=1002), True)
    ] and not made.off


def test_plan_missing_in_installation_directory_disables_account():
    made = plan(EVERYBODY, some(2), world_of(3, None))
    assert [k.user_id for k in made.off] == [UUID(int=1002)] and not made.changes


def test_plan_keeps_account_disabled_by_hand():
    world = world_of(2, None)
    by_hand = replace(world, known=[world.known[0], replace(world.known[1], is_active=False)])
    gone = applied(by_hand, plan(EVERYBODY, some(1), by_hand))
    assert not plan(EVERYBODY, some(2), gone).on
    by_directory = applied(world, plan(EVERYBODY, some(1), world))
    assert [k.user_id for k in plan(EVERYBODY, some(2), by_directory).on] == [UUID(int=1001)]


def test_plan_org_directory_never_enables_accounts():
    world = world_of(1)
    off = replace(world, known=[replace(world.known[0], is_active=False, is_gone=True)])
    assert not plan(EVERYBODY, some(1), off).on


def test_plan_existing_address_is_linked_only_on_confirmation():
    taken = {"s0@x.example": UUID(int=77)}
    world = ProvisioningState(PROVIDER, None, taken=taken)
    made = plan(EVERYBODY, some(1), world)
    assert not made.newcomers and "has an account already" in made.clashes[0].why
    linked = plan(EVERYBODY, some(1), world, links={"s0": UUID(int=77)})
    assert [(n.user_id, n.is_linked) for n in linked.newcomers] == [(UUID(int=77), True)]
    assert plan(EVERYBODY, some(1), world, links={"s0": UUID(int=78)}).clashes


def test_plan_duplicate_address_skips_second_user():
    pair = [ProviderPerson("s0", "same@x.example"), ProviderPerson("s1", "same@x.example")]
    made = plan(EVERYBODY, pair, ProvisioningState(PROVIDER, None))
    assert [n.person.subject for n in made.newcomers] == ["s0"] and [
        c.person.subject for c in made.clashes
    ] == ["s1"]


def test_plan_without_matching_rule_creates_no_account():
    assert plan(
        [Rule("cn=a", ORGS[0], None, "member")], some(3), ProvisioningState(PROVIDER, None)
    ).is_empty


def test_plan_keeps_last_operator_enabled():
    world = world_of(1, None)
    world = replace(
        world,
        known=[replace(world.known[0], is_operator=True)],
        operators=frozenset({UUID(int=1000)}),
    )
    made = plan(EVERYBODY, [], world)
    assert not made.off and made.spared == [
        (UUID(int=1000), "the last operator of this installation")
    ]


def test_plan_changed_subject_loses_nothing():
    world = world_of(1)
    again = ProviderPerson("new", "s0@x.example")
    linked = applied(
        world,
        plan(
            EVERYBODY,
            [again],
            replace(world, taken={"s0@x.example": UUID(int=1000)}),
            links={"new": UUID(int=1000)},
        ),
    )
    assert [s.is_suspended for s in linked.seats] == [False]
    assert plan(EVERYBODY, [again], linked).is_empty
