"""Plan the MIG instances of GPUs: what NVIDIA's placement tables allow, with the fewest drains.

Pure. A GPU has eight memory slices (an A30 has four); an instance occupies consecutive ones, from a
start that its profile allows. Sources: MIG User Guide (profiles, placements), nvml.h (rules).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

MOST_AT_ONCE = 8  # GPUs that are planned together exactly: those of a node


@dataclass(frozen=True)
class Profile:
    """A kind of instance.

    `compute` is in sevenths of the GPU's SMs (quarters on an A30), `size` in memory slices. `most`
    is how many fit on one GPU. `has_media`: it takes the GPU's media engines, which one may have.
    """

    name: str
    compute: int
    size: int
    starts: tuple[int, ...]
    most: int
    has_media: bool = False


@dataclass(frozen=True)
class Model:
    """The profiles of a GPU model, largest first. `resets`: a change of the MIG mode resets it."""

    name: str
    slices: int
    compute: int
    profiles: tuple[Profile, ...]
    resets: bool = False

    def profile(self, name: str) -> Profile | None:
        return next((one for one in self.profiles if one.name == name), None)


def _model(name: str, sizes: str, *, resets: bool = False) -> Model:
    """Return a model with eight slices. `sizes`: GB of 1g, double 1g, 2g, 3g, 4g and 7g."""
    one, double, two, three, four, seven = sizes.split()
    profiles = (
        Profile(f"7g.{seven}gb", 7, 8, (0,), 1),
        Profile(f"4g.{four}gb", 4, 4, (0,), 1),
        Profile(f"3g.{three}gb", 3, 4, (0, 4), 2),
        Profile(f"2g.{two}gb", 2, 2, (0, 2, 4), 3),
        Profile(f"1g.{double}gb", 1, 2, (0, 2, 4, 6), 4),
        Profile(f"1g.{one}gb+me", 1, 1, tuple(range(7)), 1, has_media=True),
        Profile(f"1g.{one}gb", 1, 1, tuple(range(7)), 7),
    )
    return Model(name, 8, 7, profiles, resets)


A30 = Model(
    "A30",
    4,
    4,
    (
        Profile("4g.24gb", 4, 4, (0,), 1),
        Profile("2g.12gb+me", 2, 2, (0, 2), 1, has_media=True),
        Profile("2g.12gb", 2, 2, (0, 2), 2),
        Profile("1g.6gb+me", 1, 1, (0, 1, 2, 3), 1, has_media=True),
        Profile("1g.6gb", 1, 1, (0, 1, 2, 3), 4),
    ),
    resets=True,
)
MODELS = {
    model.name: model
    for model in (
        A30,
        _model("A100-40GB", "5 10 10 20 20 40", resets=True),
        _model("A100-80GB", "10 20 20 40 40 80", resets=True),
        _model("H100-80GB", "10 20 20 40 40 80"),
        _model("H100-94GB", "12 24 24 47 47 94"),
        _model("H100-96GB", "12 24 24 48 48 96"),
        _model("H200", "18 35 35 71 71 141"),
        _model("B200", "23 45 45 90 90 180"),
        _model("GB200", "23 47 47 93 93 186"),
    )
}
_GB = 10**9


def model_of(name: str, memory: int) -> Model | None:
    """Return the model for NVML's product name and memory in bytes; None without MIG."""
    found = re.search(r"\b(A30|A100|H100|GH200|H200|GB200|B200)\b", name.upper())
    kind = found[1] if found else ""
    if kind in MODELS:
        return MODELS[kind]
    if kind == "A100":
        return MODELS["A100-80GB" if memory > 60 * _GB else "A100-40GB"]
    if kind == "GH200":
        return MODELS["H200" if memory > 110 * _GB else "H100-96GB"]
    if kind == "H100":
        # NVML reports GiB-based sizes: 80 GB is 85.5e9 bytes, 94 GB 100.5e9, 96 GB 102.5e9
        return MODELS[
            "H100-80GB"
            if memory < 90 * _GB
            else "H100-94GB"
            if memory < 101.5 * _GB
            else "H100-96GB"
        ]
    return None


@dataclass(frozen=True, order=True)
class Instance:
    """An instance of a profile at a start: "2g.20gb" at slice 4."""

    start: int
    profile: str


Layout = frozenset[Instance]
EMPTY: Layout = frozenset()


@dataclass(frozen=True)
class GpuState:
    """A GPU now. `layout` is None while MIG is off; `busy` are the instances that jobs use.

    `is_busy`: a job uses the whole GPU (MIG is off). `is_avoided`: its node is kept for somebody, or
    not in order; such GPUs are changed only where no other is left.
    """

    node: str
    uuid: str
    model: str
    layout: Layout | None = None
    busy: frozenset[Instance] = EMPTY
    is_busy: bool = False
    is_avoided: bool = False


@dataclass(frozen=True, order=True)
class Cost:
    """What a change costs, compared in this order: jobs that must end first, avoided GPUs, changes."""

    drains: int = 0
    avoided: int = 0
    changes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.drains + other.drains,
            self.avoided + other.avoided,
            self.changes + other.changes,
        )


@dataclass(frozen=True)
class GpuChange:
    """The change of one GPU. `after` is None if MIG is switched off.

    `drains` are the instances whose jobs must end first; `drains_gpu`: the job on the whole GPU.
    """

    gpu: GpuState
    after: Layout | None

    @property
    def removed(self) -> list[Instance]:
        return sorted((self.gpu.layout or EMPTY) - (self.after or EMPTY))

    @property
    def created(self) -> list[Instance]:
        """Return the instances to create, in an order that the driver accepts: largest first."""
        model = MODELS[self.gpu.model]
        made = (self.after or EMPTY) - (self.gpu.layout or EMPTY)
        return sorted(made, key=lambda one: (-_profile(model, one).size, one.start))

    @property
    def is_mode_change(self) -> bool:
        return (self.gpu.layout is None) != (self.after is None)

    @property
    def drains(self) -> list[Instance]:
        return [one for one in self.removed if one in self.gpu.busy]

    @property
    def drains_gpu(self) -> bool:
        return self.gpu.is_busy and self.is_mode_change

    @property
    def cost(self) -> Cost:
        changes = len(self.removed) + len(self.created) + self.is_mode_change
        avoided = int(self.gpu.is_avoided and changes > 0)
        return Cost(len(self.drains) + self.drains_gpu, avoided, changes)


@dataclass(frozen=True)
class LayoutPlan:
    """The changes that fulfil a wish, and what of it does not fit."""

    changes: tuple[GpuChange, ...]
    missing: Mapping[str, int]

    @property
    def cost(self) -> Cost:
        return sum((change.cost for change in self.changes), Cost())

    @property
    def nodes(self) -> list[str]:
        """Return the nodes that must be drained, because their GPUs change."""
        return sorted({change.gpu.node for change in self.changes})


FULL = "full"  # in a wish: a GPU that is not partitioned


def faults(model: Model, layout: Iterable[Instance]) -> list[str]:
    """Return what NVIDIA's tables forbid in a layout; empty if it is valid."""
    found, taken, compute, media = [], [False] * model.slices, 0, 0
    counts: Counter[str] = Counter()
    for one in sorted(layout):
        profile = model.profile(one.profile)
        if profile is None:
            found.append(f"{model.name} has no profile {one.profile}")
            continue
        if one.start not in profile.starts:
            found.append(f"{one.profile} cannot start at slice {one.start}")
            continue
        if any(taken[one.start : one.start + profile.size]):
            found.append(f"{one.profile} at slice {one.start} overlaps another instance")
        taken[one.start : one.start + profile.size] = [True] * profile.size
        counts[profile.name] += 1
        compute, media = compute + profile.compute, media + profile.has_media
    found += [
        f"more than {model.profile(name).most} of {name}"  # type: ignore[union-attr]
        for name, number in counts.items()
        if number > model.profile(name).most  # type: ignore[union-attr]
    ]
    if compute > model.compute:
        found.append(f"{compute} of {model.compute} compute slices")
    if media > 1:
        found.append("more than one instance with media engines")
    return found


def plan(gpus: Sequence[GpuState], wish: Mapping[str, int]) -> LayoutPlan:
    """Return the cheapest plan after which the GPUs offer at least the wish.

    `wish` counts instances by profile, and whole GPUs as `FULL`. What is there already counts.
    GPUs that are not needed stay as they are. Exact for MOST_AT_ONCE GPUs, such as a node's; of
    more, those that need no drain are taken first, in groups.
    """
    left = {name: number for name, number in wish.items() if number > 0}
    if len(gpus) <= MOST_AT_ONCE:
        chosen, left = _plan_group(gpus, left)
    else:
        chosen, left, unused = _plan_many(gpus, left, without_drains=True)
        if any(left.values()):
            more, left, _ = _plan_many(unused, left)
            chosen += more
    return LayoutPlan(
        tuple(change for change in chosen if change.after != change.gpu.layout),
        {name: number for name, number in left.items() if number},
    )


def _plan_many(
    gpus: Sequence[GpuState], wish: Mapping[str, int], *, without_drains: bool = False
) -> tuple[list[GpuChange], dict[str, int], list[GpuState]]:
    """Return the changes, what is left of the wish, and the GPUs that offer nothing of it.

    While more is left than a group can offer, each GPU takes as much of it as it can.
    """
    left, chosen, unused = dict(wish), list[GpuChange](), list[GpuState]()

    def key(gpu: GpuState) -> tuple[Any, ...]:
        served, change = _greedy(gpu, left, without_drains)
        cost = change.cost
        return (cost.drains, cost.avoided, -served, cost, gpu.node, gpu.uuid)

    queue = sorted(gpus, key=key)
    while queue and any(left.values()):
        if _slices(queue[0].model, left) > MOST_AT_ONCE * MODELS[queue[0].model].slices:
            gpu = queue.pop(0)
            served, change = _greedy(gpu, left, without_drains)
            changes = [change] if served else []
            unused += [] if served else [gpu]
            left = _less(left, change.after) if served else left
        else:
            group, queue = queue[:MOST_AT_ONCE], queue[MOST_AT_ONCE:]
            changes, left = _plan_group(group, left, without_drains=without_drains)
            unused += [c.gpu for c in changes if not _serves(c.after, wish)]
        chosen += changes
    return chosen, left, unused + queue


def _serves(layout: Layout | None, wish: Mapping[str, int]) -> bool:
    return FULL in wish if layout is None else any(one.profile in wish for one in layout)


def _less(wish: Mapping[str, int], layout: Layout | None) -> dict[str, int]:
    has = _counts(layout)
    return {name: max(number - has[name], 0) for name, number in wish.items()}


def _counts(layout: Layout | None) -> Counter[str]:
    return Counter([FULL] if layout is None else [one.profile for one in layout])


def _slices(model: str, wish: Mapping[str, int]) -> int:
    """Return the memory slices that a wish takes."""
    sizes = {profile.name: profile.size for profile in MODELS[model].profiles}
    return sum(sizes.get(name, MODELS[model].slices) * number for name, number in wish.items())


def _greedy(gpu: GpuState, wish: Mapping[str, int], without_drains: bool) -> tuple[int, GpuChange]:
    """Return the slices of the wish that this GPU can offer at most, and how."""
    names = tuple(sorted(wish))

    def key(item: tuple[Left, tuple[Cost, Layout | None]]) -> tuple[int, Cost]:
        counts, (cost, _) = item
        served = {n: min(c, wish[n]) for n, c in zip(names, counts, strict=True)}
        return -_slices(gpu.model, served), cost

    offers = _offers(replace(gpu, node="", uuid=""), names)
    usable = [i for i in offers.items() if not (without_drains and i[1][0].drains)]
    best = min(usable, key=key)
    return -key(best)[0], GpuChange(gpu, best[1][1])


Left = tuple[int, ...]


def _plan_group(
    gpus: Sequence[GpuState], wish: Mapping[str, int], *, without_drains: bool = False
) -> tuple[list[GpuChange], dict[str, int]]:
    """Return the changes of these GPUs that leave least of the wish, at the least cost."""
    names = tuple(sorted(wish))
    start: Left = tuple(wish[name] for name in names)
    # What is left of the wish → the cheapest way to it, as (cost, layouts so far)
    best: dict[Left, tuple[Cost, tuple[Layout | None, ...]]] = {start: (Cost(), ())}
    for gpu in gpus:
        offers = _offers(replace(gpu, node="", uuid=""), names)
        found: dict[Left, tuple[Cost, tuple[Layout | None, ...]]] = {}
        for left, (cost, layouts) in best.items():
            for counts, (more, layout) in offers.items():
                if without_drains and more.drains:
                    continue
                after = tuple(max(a - b, 0) for a, b in zip(left, counts, strict=True))
                total = cost + more
                if after not in found or total < found[after][0]:
                    found[after] = (total, (*layouts, layout))
        best = found
    left, (_, layouts) = min(best.items(), key=lambda item: (sum(item[0]), item[1][0]))
    changes = [GpuChange(gpu, layout) for gpu, layout in zip(gpus, layouts, strict=True)]
    return changes, dict(zip(names, left, strict=True))


@cache
def _offers(gpu: GpuState, names: tuple[str, ...]) -> dict[Left, tuple[Cost, Layout | None]]:
    """Return what such a GPU can offer of the wished profiles, each at its least cost."""
    model = MODELS[gpu.model]
    found: dict[Left, tuple[Cost, Layout | None]] = {}

    def add(after: Layout | None) -> None:
        has = _counts(after)
        counts = tuple(has[name] for name in names)
        cost = GpuChange(gpu, after).cost
        if counts not in found or cost < found[counts][0]:
            found[counts] = (cost, after)

    add(gpu.layout)
    add(None)
    wished = [profile for profile in model.profiles if profile.name in names]
    for kept in _subsets(gpu.layout or EMPTY):
        for after in _filled(model, kept, wished):
            if after:
                add(after)
    return found


def _subsets(layout: Layout) -> Iterator[Layout]:
    rows = sorted(layout)
    for bits in range(1 << len(rows)):
        yield frozenset(row for bit, row in enumerate(rows) if bits >> bit & 1)


def _filled(model: Model, kept: Layout, wished: Sequence[Profile]) -> Iterator[Layout]:
    """Yield the valid layouts with these instances and any others of the wished profiles."""
    taken = [False] * model.slices
    compute, media = model.compute, False
    counts: Counter[str] = Counter()
    for one in kept:
        profile = _profile(model, one)
        taken[one.start : one.start + profile.size] = [True] * profile.size
        compute, media = compute - profile.compute, media or profile.has_media
        counts[profile.name] += 1

    def fill(at: int, compute: int, media: bool, added: tuple[Instance, ...]) -> Iterator[Layout]:
        if at == model.slices:
            yield kept | frozenset(added)
            return
        yield from fill(at + 1, compute, media, added)
        for profile in wished:
            if (
                at in profile.starts
                and profile.compute <= compute
                and not (media and profile.has_media)
                and counts[profile.name] < profile.most
                and not any(taken[at : at + profile.size])
            ):
                counts[profile.name] += 1
                yield from fill(
                    at + profile.size,
                    compute - profile.compute,
                    media or profile.has_media,
                    (*added, Instance(at, profile.name)),
                )
                counts[profile.name] -= 1

    yield from fill(0, compute, media, ())


def _profile(model: Model, instance: Instance) -> Profile:
    profile = model.profile(instance.profile)
    if profile is None:
        raise ValueError(f"{model.name} has no profile {instance.profile}")
    return profile
