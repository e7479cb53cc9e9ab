"""Whether a submission would start at once, and what it would wait for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clusters.capacity import inside_of
from clusters.node_capacity import node_usage_of
from jobs.scheduling import quota_limits
from jobs.scheduling.pending_summary import wait_text
from jobs.services.submission import Submission
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.capacity import KINDS, AmountChange, Candidates, idle
from schedulers.contract import Capability
from schedulers.states import Wait


@dataclass(frozen=True)
class Start:
    """What a submission would wait for: `wait` with its facts, None if it starts at once.

    `change` is the smallest with which it would start at once.
    """

    text: str = ""
    wait: Wait | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    change: AmountChange | None = None


def start_now(submission: Submission) -> Start:
    """Judge by the planner's rules; where a scheduler places jobs, also by what its nodes report."""
    snapshot, request = submission.snapshot, submission.request
    decision = snapshot.judge(request)
    if decision.wait is not None:
        facts = {**decision.facts, **quota_limits.until(decision.facts)}
        facts |= snapshot.smallest_limit(request)
        text = wait_text(decision.wait, facts)
        return Start(text, decision.wait, facts, snapshot.smallest_change(request))
    if not snapshot.places and (waits := _without_room(submission)):
        return waits
    place = submission.place
    name = place.pool.name if place.pool else place.cluster.name
    return Start(Message("Starts now on {name}.", name=name))


def _without_room(submission: Submission) -> Start | None:
    """Return what the job waits for if the nodes of its scheduler have no room for it now."""
    place, need = submission.place, submission.request.resources
    machines = node_usage_of(place.cluster)
    inside = inside_of(place.pool, machines) if place.pool else machines
    if not inside:  # they are not known yet
        return None
    team = submission.team.id
    packs = Capability.PACKS in capabilities_of(place.cluster.backend)
    need = replace(need, packs=packs)
    nodes = Candidates([machine.seen_by(team).open_capacity for machine in inside])
    seen = nodes.judge(need)
    if seen.wait is None:
        return None
    facts: dict[str, Any] = {}
    if seen.kind in KINDS and seen.wait in (Wait.CAPACITY, Wait.SCATTERED):
        resource = need.resource(seen.kind)
        facts = {
            "resource": seen.kind,
            "ask": need.in_all(seen.kind),
            "free": nodes.sum(resource),
            "total": nodes.sum(resource, idle),
            "most_on_one_node": nodes.most(resource),
        }
    return Start(wait_text(seen.wait, facts), seen.wait, facts, nodes.smallest_change(need))
