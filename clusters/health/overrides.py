"""A person's word outranks the rules: findings of a node that a person returns only warn."""

from __future__ import annotations

from clusters.health.checks import HealthState
from clusters.models import HealthFinding, Node, NodeHealth
from portal.core import clock


def release_findings(node: Node) -> None:
    """Mute the findings of a node that returns to service, until their conditions end."""
    mine = HealthFinding.objects.filter(node=node.id)
    mine.filter(ended_at__isnull=False).delete()
    muted = mine.update(is_muted=True)
    NodeHealth.objects.filter(node=node.id).exclude(state=HealthState.HEALTHY).update(
        state=HealthState.WARNING if muted else HealthState.HEALTHY,
        since=clock.now(),
        is_drained_by_rule=False,
        blocked="",
        **({} if muted else {"check_code": "", "gpu": None, "params": {}}),
    )


def take_over(node: Node) -> None:
    """Keep a node that a person drains from being resumed by a rule."""
    NodeHealth.objects.filter(node=node.id).update(is_drained_by_rule=False)
