"""Periodic work on pools and on the health of nodes."""

from __future__ import annotations

import logging

from celery import shared_task

from clusters.health.evaluation import evaluate_cluster
from clusters.models import Cluster
from clusters.services.pool_request_mails import mail_ends
from clusters.services.pool_requests import start_and_end
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)


@shared_task(name="clusters.run_pool_requests")
def run_pool_requests() -> None:
    """Start and end approved pool requests that are due, and remind teams before the end."""
    with platform_scope("pools of every organization start and end"):
        ended = start_and_end()
        mail_ends(ended)


@shared_task(name="clusters.check_health")
def check_health() -> None:
    """Judge the health of all nodes; one cluster that fails does not delay the others."""
    for cluster in Cluster.objects.order_by("name"):
        try:
            evaluate_cluster(cluster)
        except Exception:
            log.exception("the health of %s was not evaluated", cluster.name)
