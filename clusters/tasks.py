"""Periodic work on pools, MIG plans and the health of nodes."""

from __future__ import annotations

import logging

from celery import shared_task

from clusters.health.evaluation import evaluate_cluster
from clusters.models import Cluster
from clusters.services.mig_progress import advance_plans
from clusters.services.pool_requests import due_reminders, start_and_end
from clusters.services.pool_reservations import reconcile
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)

# Seconds between two runs of each task
SCHEDULE = {
    "clusters.run_pool_requests": 60.0,
    "clusters.advance_mig_plans": 10.0,
    "clusters.check_health": 30.0,
}


@shared_task(name="clusters.run_pool_requests")
def run_pool_requests() -> None:
    """Start and end approved pool requests that are due, and remind teams before the end.

    Reservations of clusters are made, repaired and removed.
    """
    with platform_scope("pools of every organization start and end"):
        start_and_end()
        reconcile()
        due_reminders()


@shared_task(name="clusters.advance_mig_plans")
def advance_mig_plans() -> None:
    """Do the next step of each MIG plan that is being applied."""
    with platform_scope("nodes belong to no organization"):
        advance_plans()


@shared_task(name="clusters.check_health")
def check_health() -> None:
    """Judge the health of all nodes; one cluster that fails does not delay the others."""
    for cluster in Cluster.objects.order_by("name"):
        try:
            evaluate_cluster(cluster)
        except Exception:
            log.exception("the health of %s was not evaluated", cluster.name)
