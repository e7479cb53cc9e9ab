"""Requests for GPUs of the demo: one of each state.

They are made now, not in the past: the running portal ends grants and reminds by the real clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from clusters.services import pool_requests as service
from portal.core import clock
from workspaces.access.actors import actor_of
from workspaces.models import Organization, Team, TeamMembership
from workspaces.organizations.bootstrap import PLATFORM
from workspaces.tenancy.scope import org_scope


@dataclass(frozen=True)
class Ask:
    """A request for some days. `does`: approve, decline or return it; nothing leaves it open."""

    team: str
    gpu_type: str
    gpus: int
    purpose: str
    days: int
    does: str = ""
    word: str = ""


ASKS = (
    Ask("vision", "h100", 8, "Video encoder, third stage", 21, "return"),
    Ask(
        "speech",
        "h100",
        64,
        "Voices of twelve languages at once",
        30,
        "decline",
        "64 of 80 GPUs are too many at a time. Ask for 16 first.",
    ),
    Ask("language", "h100", 8, "Assistant with long context", 12, "approve"),
    Ask("robotics", "h100", 8, "Grasping policies for the fair", 14),
    Ask("speech", "mig-1g.10gb", 14, "Course for new colleagues", 7),
)


def create(org: Organization) -> None:
    """Make the requests and decide some of them."""
    with org_scope(org.id):
        for ask in ASKS:
            _make(org, ask)


def _make(org: Organization, ask: Ask) -> None:
    team = Team.objects.get(slug=ask.team)
    person = TeamMembership.objects.select_related("user").filter(team=team).order_by("id").last()
    assert person is not None
    actor = actor_of(person.user).enter(org)
    row = service.request_pool(
        actor=actor,
        org=org,
        team=team,
        gpu_type=ask.gpu_type,
        gpus=ask.gpus,
        purpose=ask.purpose,
        ends_at=clock.now() + timedelta(days=ask.days),
    )
    if ask.does == "decline":
        service.decide(do="decline", actor=PLATFORM, request_id=row.id, word=ask.word)
    elif ask.does:
        service.decide(do="approve", actor=PLATFORM, request_id=row.id, pool=ask.gpu_type)
    if ask.does == "return":
        service.decide(do="return", actor=actor, request_id=row.id)
