"""Registered models of the demo: versions of the best runs of its experiments."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from demo.pace import Action
from experiments import artifacts
from experiments.models import Experiment, Run, RunStatus
from portal.core import clock
from registry import services
from registry.models import RegisteredModel
from registry.services.versions import About
from workspaces.access.actors import Actor, actor_of
from workspaces.models import Membership, Organization
from workspaces.tenancy.scope import org_scope


@dataclass(frozen=True)
class Family:
    """A model with versions of the newest runs of an experiment."""

    name: str
    experiment: str
    card: str
    layers: int
    versions: int
    requires_approval: bool = False


FAMILIES = (
    Family(
        "product-classifier",
        "resnet50-augmentation",
        "# Product classifier\n\nSorts product photos into 10 categories.\n\n## Intended use\n\n"
        "Catalogue images of one product each; not for photos of customers.\n\n## Data\n\n"
        "`product-images`, 2026-08.\n",
        50,
        3,
    ),
    Family(
        "support-assistant",
        "llama-8b-sft",
        "# Support assistant\n\nAnswers questions of customers from the handbook.\n\n## Limits\n\n"
        "English only. A person reads each answer before it is sent.\n",
        32,
        2,
        requires_approval=True,
    ),
)


def plan(org: Organization) -> Iterator[tuple[datetime, Action]]:
    """Yield what registers the models of the demo, and when."""
    now = clock.now()
    for family in FAMILIES:
        yield now - timedelta(days=family.versions * 2), partial(_create, org, family)
        for back in range(family.versions):
            yield now - timedelta(days=back * 2, hours=3), partial(_register, org, family)


def _create(org: Organization, family: Family) -> None:
    with org_scope(org.id):
        experiment = Experiment.objects.select_related("team", "owner").get(name=family.experiment)
        services.create_model(
            actor=actor_of(experiment.owner).enter(org),
            team=experiment.team,
            name=family.name,
            description=family.card,
            tags={"task": family.experiment.partition("-")[0]},
            requires_approval=family.requires_approval,
        )


def _register(org: Organization, family: Family) -> None:
    """Register the run that ended last; the owner of the organization approves."""
    with org_scope(org.id):
        model = RegisteredModel.objects.select_related("team", "org").get(name=family.name)
        run = (
            Run.objects.filter(experiment__name=family.experiment, status=RunStatus.FINISHED)
            .select_related("owner", "experiment", "team", "org")
            .latest("ended_ms")
        )
        owner = Membership.objects.select_related("user").get(org=org, role="owner").user
        approver = actor_of(owner).enter(org)
        _version(actor_of(run.owner).enter(org), approver, model, run, family)


def _version(
    actor: Actor, approver: Actor, model: RegisteredModel, run: Run, family: Family
) -> None:
    for path, content in (
        ("model/model.safetensors", _weights(family.layers)),
        ("model/config.json", json.dumps({"layers": family.layers, **run.params}).encode()),
    ):
        artifacts.put(actor, run, path, [content], size=len(content))
    about = About(source=f"runs:/{run.id.hex}/model", description=f"From {run.name}.")
    version = services.create_version(actor=actor, model=model, about=about)
    if not family.requires_approval:
        services.set_alias(actor=actor, version=version, alias="champion")
    else:
        services.request_approval(actor=actor, version=version, note="Best held-out loss so far.")
        if actor.user_id != approver.user_id and version.version == 1:
            services.decide_version(
                do="approve", actor=approver, version=version, note="Checked by hand."
            )


def _weights(layers: int, width: int = 16) -> bytes:
    """Return a small file of weights in the format safetensors."""
    size = width * width * 2
    header = {
        f"layers.{n}.weight": {
            "dtype": "BF16",
            "shape": [width, width],
            "data_offsets": [n * size, (n + 1) * size],
        }
        for n in range(layers)
    }
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + bytes(layers * size)
