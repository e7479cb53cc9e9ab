"""Match an image with nodes and explain which nodes do not fit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from portal.core.messages import Message
from schedulers.images import warnings
from schedulers.images.config import Image, Variant
from schedulers.images.requirements import Device

_SHOWN = 4  # reasons in one sentence


class Compatibility(IntEnum):
    """How well an image fits, from best to worst.

    DOUBTFUL: something speaks against it, but it may run; UNKNOWN: too little is known about the
    node.
    """

    FITS = 0
    UNKNOWN = 1
    DOUBTFUL = 2
    MISFIT = 3


@dataclass(frozen=True)
class NodePlatform:
    """A node as far as known: "" and None are unknown.

    `model` is the name of its GPUs, "" for a job without GPUs.
    """

    name: str
    arch: str = ""
    device: Device = field(default_factory=Device)
    model: str = ""


@dataclass(frozen=True)
class Incompatibility:
    """Why some nodes do not fit.

    `has` and `needs` form the sentence: "2 have driver 470, it needs 525 or newer".
    """

    fit: Compatibility
    has: str
    needs: str
    advice: str = ""


@dataclass(frozen=True)
class NodeGroup:
    """Nodes with the same result."""

    reason: Incompatibility
    nodes: Sequence[str]


@dataclass(frozen=True)
class CompatibilityReport:
    """The result for all nodes."""

    fits: int
    total: int
    groups: Sequence[
        NodeGroup
    ] = ()  # nodes that do not fully fit; the worst and largest group first

    @property
    def is_hopeless(self) -> bool:
        """Whether the image certainly fits on no node."""
        return (
            bool(self.total)
            and sum(len(g.nodes) for g in self.groups if g.reason.fit == Compatibility.MISFIT)
            == self.total
        )

    @property
    def text(self) -> str:
        """Return "Fits 30 of 32 nodes; 2 have driver 470, it needs 525 or newer."."""
        if not self.total:
            return Message("There is no node that it could be put against.")
        nodes = (
            "the only node"
            if self.total == 1 and self.fits
            else f"{self.fits} of {self.total} {'node' if self.total == 1 else 'nodes'}"
        )
        first = f"fits all {self.total} nodes" if self.fits == self.total > 1 else f"fits {nodes}"
        more = (
            [f"{sum(len(g.nodes) for g in self.groups[_SHOWN:])} more for other reasons"]
            if len(self.groups) > _SHOWN
            else []
        )
        return (
            "; ".join([f"The image {first}", *(_sentence(g) for g in self.groups[:_SHOWN]), *more])
            + "."
        )

    @property
    def advice(self) -> str:
        return Message.joined(
            " ", dict.fromkeys(g.reason.advice for g in self.groups if g.reason.advice)
        )


def fit(
    image: Image,
    hosts: Iterable[NodePlatform],
    *,
    wants_gpus: bool,
    env: Mapping[str, str] | None = None,
    ended: Mapping[str, str] | None = None,
) -> CompatibilityReport:
    """Match an image with nodes.

    `env` is the job's own, which overrides the image's. `ended` maps GPU models on which this image
    failed with "no kernel image" to a note on when.
    """
    alike: dict[NodePlatform, list[str]] = {}
    for host in hosts:
        alike.setdefault(replace(host, name=""), []).append(host.name)
    reasons: dict[Incompatibility | None, list[str]] = {}
    for host, names in alike.items():
        reasons.setdefault(
            judge(image, host, wants_gpus=wants_gpus, env=env or {}, ended=ended or {}), []
        ).extend(names)
    fits = len(reasons.pop(None, ()))
    groups = [NodeGroup(reason, names) for reason, names in reasons.items() if reason]
    groups.sort(key=lambda g: (-g.reason.fit, -len(g.nodes)))
    return CompatibilityReport(fits, fits + sum(len(g.nodes) for g in groups), groups)


def judge(
    image: Image,
    host: NodePlatform,
    *,
    wants_gpus: bool,
    env: Mapping[str, str],
    ended: Mapping[str, str],
) -> Incompatibility | None:
    """Return the most serious reason; None if the image fits."""
    variant, trouble = _variant(image, host)
    found = [trouble] if trouble else []
    if variant is not None and wants_gpus:
        found += _of_gpus(variant, host, {**variant.env, **env}, ended)
    return max(found, key=lambda r: r.fit, default=None)


def _variant(image: Image, host: NodePlatform) -> tuple[Variant | None, Incompatibility | None]:
    """Return the variant that this node would pull."""
    linux = [v for v in image.variants if v.os == "linux"]
    if host.arch and (mine := next((v for v in linux if v.arch in ("", host.arch)), None)):
        return mine, None
    if host.arch and host.arch in image.arches:
        return None, Incompatibility(
            Compatibility.UNKNOWN, f"are {host.arch}", "and what it is for them was not read"
        )
    if host.arch or not image.arches:
        return None, _wrong_machine(image, host)
    # unknown architecture: most images support only one
    return (linux[0] if linux else None), None


def _wrong_machine(image: Image, host: NodePlatform) -> Incompatibility:
    kinds = " and ".join(image.arches) or " and ".join(
        sorted({v.os for v in image.variants} | {o.partition("/")[0] for o in image.others})
    )
    advice = (
        Message("Build it for {arch} too, or choose a pool of other nodes.", arch=host.arch)
        if host.arch and image.arches
        else Message("Choose an image for Linux.")
    )
    has = f"are {host.arch}" if host.arch else "run Linux"
    return Incompatibility(
        Compatibility.MISFIT, has, f"it is built for {kinds or 'nothing'} only", advice
    )


def _of_gpus(
    variant: Variant, host: NodePlatform, env: Mapping[str, str], ended: Mapping[str, str]
) -> list[Incompatibility]:
    found = []
    for doubt in warnings.doubts(env, host.device):
        fit = (
            Compatibility.MISFIT
            if doubt.is_certain
            else Compatibility.UNKNOWN
            if doubt.is_unknown
            else Compatibility.DOUBTFUL
        )
        found.append(Incompatibility(fit, doubt.has, doubt.needs, doubt.advice))
    if when := ended.get(host.model):
        found.append(
            Incompatibility(
                Compatibility.DOUBTFUL,
                f"have {host.model}",
                f"where this very image ended with “no kernel image is available” {when}",
                Message("Use an image that is built for this GPU."),
            )
        )
    return found


def _sentence(group: NodeGroup) -> str:
    """Form a sentence with the right verb: "1 has driver 470", "2 have driver 470"."""
    verb, _, rest = group.reason.has.partition(" ")
    single = {"have": "has", "are": "is", "run": "runs", "tell": "tells"}
    return (
        f"{len(group.nodes)} {single.get(verb, verb) if len(group.nodes) == 1 else verb} {rest}, "
        f"{group.reason.needs}"
    )
