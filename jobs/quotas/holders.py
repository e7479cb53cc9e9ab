"""Who uses a limited subject's resources now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from jobs.models import Attempt
from jobs.models.attempt import held_by
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.quotas.limits import ORG, TEAM

MOST = 500  # attempts read
SHOWN = 12


@dataclass
class Holder:
    """A person's running and starting jobs. `resources` are in quota units."""

    email: str
    name: str
    jobs: dict[int, str] = field(default_factory=dict)
    resources: dict[str, int] = field(default_factory=dict)

    @property
    def gpus(self) -> int:
        return self.resources.get("gpu", 0)

    @property
    def cores(self) -> float:
        return self.resources.get("cpu", 0) / 1000

    @property
    def first_jobs(self) -> list[tuple[int, str]]:
        return list(self.jobs.items())[:5]

    @property
    def more(self) -> int:
        return max(len(self.jobs) - 5, 0)


def holders(actor: Actor, scope: str, subject_id: UUID) -> list[Holder]:
    """Return who uses the subject's resources, most GPUs first.

    Only of jobs that the actor may see.
    """
    rows = Attempt.objects.filter(
        has_reservation=True, state__gt=State.QUEUED, state__lt=State.SUCCEEDED
    )
    teams = actor.teams_where(Permission.JOBS_READ)
    if teams is not None:
        rows = rows.filter(job__team_id__in=teams)
    if scope == TEAM:
        rows = rows.filter(job__team_id=subject_id)
    elif scope != ORG:
        rows = rows.filter(job__owner_id=subject_id)
    found: dict[str, Holder] = {}
    fields = ("job__owner__email", "job__owner__name", "job__number", "job__name")
    held = rows.order_by("-job__number").values_list(*fields, "job__resources", "gpu_types")
    for email, name, number, title, resources, types in held[:MOST]:
        holder = found.setdefault(email, Holder(email, name or email.partition("@")[0]))
        holder.jobs[number] = title
        _add(holder.resources, held_by(resources, types))
    ordered = sorted(found.values(), key=lambda holder: (-holder.gpus, -holder.cores))
    return ordered[:SHOWN]


def _add(total: dict[str, int], resources: dict[str, Any]) -> None:
    for name, amount in resources.items():
        total[name] = total.get(name, 0) + int(amount)
