"""The live topics of this app, and who may watch them."""

from __future__ import annotations

from uuid import UUID

from experiments.models import Run
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.access.subscriptions import SubscriptionGrant, no_topic


def _of_run(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    run = Run.objects.select_related("org").filter(id=pk).first()
    if run is None or not actor.enter(run.org).may(Permission.EXPERIMENTS_READ, run.team_id):
        raise no_topic()
    return SubscriptionGrant((topic,), org_id=run.org_id)


TOPICS = {
    "metrics:run": _of_run,
}
