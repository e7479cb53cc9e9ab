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
    WORKSPACES = "workspaces"


_Ask = tuple[str, Callable[["JobSpec"], bool], str]
_ASKS: dict[Feature, _Ask] = {
    Feature.IMAGES: (
        "image",
        lambda spec: bool(spec.image),
        "containers cannot be run here; remove `image`",
    ),
    Feature.GANG: (
        "num_nodes",
        lambda spec: spec.num_nodes > 1,
        "multi-node jobs are not supported here; set it to 1",
    ),
    Feature.SRUN: (
        "launcher",
        lambda spec: spec.launcher.value == "srun",
        (
            "`srun` only exists on Slurm clusters; choose one with `policy.pool`, or use the "
            "launcher torchrun"
        ),
    ),
    Feature.SECRETS: (
        "secrets",
        lambda spec: bool(spec.secrets or spec.secret_files),
        "secrets are not supported here; remove them",
    ),
    Feature.INPUTS: (
        "inputs",
        lambda spec: bool(spec.inputs),
        "datasets are not supported here; read the files by their path",
    ),
    Feature.OUTPUTS: (
        "outputs",
        lambda spec: bool(spec.outputs),
        "versions are not supported here; write to persistent storage",
    ),
    Feature.WORKSPACES: (
        "workspaces",
        lambda spec: bool(spec.workspaces),
        (
            "the nodes of this cluster do not see workspaces: an operator can set `Workspaces` in "
            "its settings; choose another one with `policy.pool`, or download the files in `setup`"
        ),
    ),
    Feature.PORTS: (
        "ports",
        lambda spec: bool(spec.ports),
        "ports are not supported here; remove `ports`",
    ),
    Feature.POOLS: (
        "policy.pool",
        lambda spec: bool(spec.policy.pool),
        "pools are not supported here; remove `pool`",
    ),
    Feature.PREEMPTION: (
        "policy.preempt",
        lambda spec: spec.policy.preempt.value != "runonce",
        "preemption is not supported here; remove `preempt`",
    ),
}


def unavailable(spec: JobSpec, features: Collection[str]) -> list[FieldError]:
    """Return an error for every field that needs a feature missing from `features`."""
    return [
        FieldError(field, message)
        for feature, (field, is_asked, message) in _ASKS.items()
        if feature not in features and is_asked(spec)
    ]
