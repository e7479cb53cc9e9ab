"""Check the fields of a spec that need an optional feature.

The parser always accepts them; submission checks them against the features that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import StrEnum
from typing import TYPE_CHECKING

from schedulers.spec.errors import FieldError

if TYPE_CHECKING:
    from schedulers.spec.model import JobSpec


class Feature(StrEnum):
    """A feature that a deployment or a cluster may support."""

    GANG = "gang"
    IMAGES = "images"
    INPUTS = "inputs"
    OUTPUTS = "outputs"
    POOLS = "pools"
    PORTS = "ports"
    PREEMPTION = "preemption"
    SECRETS = "secrets"
    SRUN = "srun"


_Ask = tuple[str, Callable[["JobSpec"], bool], str]
_ASKS: dict[Feature, _Ask] = {
    Feature.IMAGES: (
        "image",
        lambda spec: bool(spec.image),
        "containers cannot be run here: leave `image` out",
    ),
    Feature.GANG: (
        "num_nodes",
        lambda spec: spec.num_nodes > 1,
        "jobs of more than one node cannot be run here: ask for 1",
    ),
    Feature.SRUN: (
        "launcher",
        lambda spec: spec.launcher.value == "srun",
        "`srun` exists only on Slurm clusters: choose one by `policy.pool`, or start the ranks by torchrun",
    ),
    Feature.SECRETS: (
        "secrets",
        lambda spec: bool(spec.secrets or spec.secret_files),
        "secrets are not kept here: leave them out",
    ),
    Feature.INPUTS: (
        "inputs",
        lambda spec: bool(spec.inputs),
        "datasets are not kept here: read the files by their path",
    ),
    Feature.OUTPUTS: (
        "outputs",
        lambda spec: bool(spec.outputs),
        "versions are not kept here: write to a path that stays",
    ),
    Feature.PORTS: (
        "ports",
        lambda spec: bool(spec.ports),
        "ports are not served here: leave `ports` out",
    ),
    Feature.POOLS: (
        "policy.pool",
        lambda spec: bool(spec.policy.pool),
        "there are no pools here: leave `pool` out",
    ),
    Feature.PREEMPTION: (
        "policy.preempt",
        lambda spec: spec.policy.preempt.value != "runonce",
        "no job is stopped for another here: leave `preempt` out",
    ),
}


def unavailable(spec: JobSpec, features: Collection[str]) -> list[FieldError]:
    """Return an error for every field that needs a feature missing from `features`."""
    return [
        FieldError(field, message)
        for feature, (field, is_asked, message) in _ASKS.items()
        if feature not in features and is_asked(spec)
    ]
