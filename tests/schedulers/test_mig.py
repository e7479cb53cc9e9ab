"""The MIG planner: its tables, and that no plan is invalid or drains more than necessary."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.mig import (
    EMPTY,
    FULL,
    MODELS,
    Cost,
    GpuChange,
    GpuState,
    Instance,
    faults,
    model_of,
    plan,
)

H100 = MODELS["H100-80GB"]
ONE, TWO, THREE, FOUR = "1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb"


def layout(*pairs):
    return frozenset(Instance(start, profile) for start, profile in pairs)


def all_layouts(model):
    """Return every valid layout, by trying every set of placements. Written apart from the planner."""
    places = [Instance(s, p.name) for p in model.profiles for s in p.starts]
    found, level = {EMPTY}, {EMPTY}
    while level:
        level = {
            bigger
            for one in level
            for place in places
            if place not in one and not faults(model, bigger := one | {place})
        } - found
        found |= level
    return found


A30_LAYOUTS = sorted(all_layouts(MODELS["A30"]), key=sorted)


@pytest.mark.parametrize(
    ("name", "gb", "model", "profile"),
    [
        ("NVIDIA A30", 25, "A30", "1g.6gb"),
        ("NVIDIA A100-SXM4-40GB", 42, "A100-40GB", "1g.5gb"),
        ("NVIDIA A100 80GB PCIe", 85, "A100-80GB", "3g.40gb"),
        ("NVIDIA H100 80GB HBM3", 85.5, "H100-80GB", "1g.10gb+me"),
        ("NVIDIA H100 NVL", 100.4, "H100-94GB", "7g.94gb"),
        ("NVIDIA GH200 480GB", 102.6, "H100-96GB", "2g.24gb"),
        ("NVIDIA H200", 150, "H200", "1g.35gb"),
        ("NVIDIA B200", 191, "B200", "4g.90gb"),
        ("NVIDIA L40S", 48, None, ""),
        ("NVIDIA A10", 24, None, ""),
    ],
)
def test_model_is_recognized(name, gb, model, profile):
    found = model_of(name, int(gb * 10**9))
    assert (found and found.name) == model
    assert found is None or found.profile(profile)


def test_known_layouts_are_judged_as_the_guide_does():
    for good in (
        layout(*((at, ONE) for at in range(7))),
        layout((0, FOUR), (4, THREE)),
        layout((0, THREE), (4, THREE)),
        layout((0, TWO), (2, TWO), (4, TWO), (6, ONE)),
        layout((0, "1g.20gb"), (2, "1g.20gb"), (4, "1g.20gb"), (6, "1g.20gb")),
        layout((0, "7g.80gb")),
    ):
        assert faults(H100, good) == []
    for bad in (
        layout((7, ONE)),
        layout((4, FOUR)),
        layout((0, FOUR), (2, TWO)),
        layout((0, THREE), (6, TWO)),
        layout((0, f"{ONE}+me"), (1, f"{ONE}+me")),
        layout((0, "1g.5gb")),
    ):
        assert faults(H100, bad)


def test_existing_idle_and_busy_instances_are_kept():
    now = layout((0, ONE), (1, ONE), (4, THREE))
    gpu = GpuState("n1", "g0", H100.name, now, busy=layout((4, THREE)))
    made = plan([gpu], {ONE: 4})
    [change] = made.changes
    assert (made.missing, made.cost) == ({}, Cost(changes=2))
    assert change.removed == [] and {one.start for one in change.created} == {2, 3}


def test_idle_gpu_is_partitioned_before_a_busy_one_is_drained():
    busy = GpuState("n1", "g0", H100.name, is_busy=True)
    idle = GpuState("n1", "g1", H100.name)
    made = plan([busy, idle], {ONE: 7})
    assert [change.gpu.uuid for change in made.changes] == ["g1"] and made.cost.drains == 0
    made = plan([busy, idle], {ONE: 8})
    assert made.cost.drains == 1 and {change.gpu.uuid for change in made.changes} == {"g0", "g1"}


@pytest.mark.parametrize("others", [1, 80])  # few are planned exactly, many in groups
def test_avoided_gpu_is_taken_last_but_before_a_drain(others):
    avoided = GpuState("n1", "a", H100.name, is_avoided=True)
    busy = [GpuState("n3", f"b{n}", H100.name, is_busy=True) for n in range(others)]
    idle = GpuState("n2", "i", H100.name)
    assert [c.gpu.uuid for c in plan([avoided, *busy, idle], {ONE: 7}).changes] == ["i"]
    assert {c.gpu.uuid for c in plan([avoided, *busy, idle], {ONE: 8}).changes} == {"a", "i"}


def test_wish_that_does_not_fit_says_what_is_missing():
    gpus = [GpuState("n1", f"g{n}", H100.name) for n in range(2)]
    assert plan(gpus, {ONE: 20}).missing == {ONE: 6}
    assert plan(gpus, {"1g.5gb": 1}).missing == {"1g.5gb": 1}
    assert plan(gpus, {FULL: 1, ONE: 7}).missing == {}


def test_full_gpu_switches_mig_off_where_nothing_runs():
    used = GpuState("n1", "g0", H100.name, layout((0, ONE)), busy=layout((0, ONE)))
    idle = GpuState("n1", "g1", H100.name, layout((0, ONE)))
    [change] = plan([used, idle], {FULL: 1}).changes
    assert (change.gpu.uuid, change.after, change.is_mode_change) == ("g1", None, True)


def test_largest_instances_are_created_first():
    [change] = plan([GpuState("n1", "g0", H100.name)], {ONE: 2, TWO: 1, THREE: 1}).changes
    assert [one.profile for one in change.created] == [THREE, TWO, ONE, ONE]


def test_thousand_gpus_are_planned_quickly():
    gpus = [GpuState(f"n{n // 8}", f"g{n}", H100.name, is_busy=n % 3 == 0) for n in range(1000)]
    made = plan(gpus, {ONE: 700, TWO: 60, THREE: 40})
    assert (made.missing, made.cost.drains) == ({}, 0)


@st.composite
def states(draw, model="A30", layouts=tuple(A30_LAYOUTS)):
    now = draw(st.sampled_from([None, *layouts]))
    busy = frozenset(one for one in sorted(now or EMPTY) if draw(st.booleans()))
    name = f"g{draw(st.integers(0, 10**6))}"
    return GpuState("n1", name, model, now, busy, now is None and draw(st.booleans()))


WISHES = st.dictionaries(
    st.sampled_from([FULL, *(profile.name for profile in MODELS["A30"].profiles)]),
    st.integers(0, 4),
    max_size=3,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(states(), min_size=1, max_size=2), WISHES)
def test_plan_is_valid_and_as_cheap_as_trying_everything(gpus, wish):
    made = plan(gpus, wish)
    after = {id(gpu): gpu.layout for gpu in gpus}
    for change in made.changes:
        assert not faults(MODELS["A30"], change.after or EMPTY)
        after[id(change.gpu)] = change.after
    assert _missing(after.values(), wish) == sum(made.missing.values())
    options = [
        [(_offered(to), GpuChange(gpu, to).cost) for to in (None, *A30_LAYOUTS)] for gpu in gpus
    ]
    best = min(
        (
            sum(max(n - sum(has[name] for has, _ in some), 0) for name, n in wish.items()),
            sum((cost for _, cost in some), Cost()),
        )
        for some in itertools.product(*options)
    )
    assert (sum(made.missing.values()), made.cost) == best


def _offered(layout) -> Counter[str]:
    return Counter([FULL] if layout is None else [one.profile for one in layout])


def _missing(layouts, wish) -> int:
    has = sum((_offered(one) for one in layouts), Counter())
    return sum(max(number - has[name], 0) for name, number in wish.items())


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_wishes_of_a_node_never_break_the_tables(data):
    model = MODELS[data.draw(st.sampled_from(sorted(MODELS)))]
    names = [FULL, *(profile.name for profile in model.profiles)]
    first = plan(
        [GpuState("n1", f"g{n}", model.name) for n in range(4)],
        data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 9), max_size=3)),
    )
    gpus = [
        GpuState("n1", change.gpu.uuid, model.name, change.after, _some(data, change.after))
        for change in first.changes
    ]
    wish = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 9), max_size=3))
    for change in plan(gpus, wish).changes:
        assert not faults(model, change.after or EMPTY)


def _some(data, layout):
    return frozenset(one for one in sorted(layout or EMPTY) if data.draw(st.booleans()))
