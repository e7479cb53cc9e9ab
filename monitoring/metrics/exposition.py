"""The metrics of the installation for Prometheus: GPUs, nodes and their health, the queue, telemetry
sources, budgets, and the portal itself. `deploy/prometheus/alerts.yml` has alerts on them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count, F, Min, Q
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from billing.amounts import month_of
from billing.models import Budget
from billing.services.ledger import behind
from clusters.health.selectors import UNHEALTHY
from clusters.models import Cluster, Device, HealthFinding, Node, NodeHealth, node_state
from jobs.models import Attempt, NodeUtilization
from jobs.utilization.selectors import FRESH
from monitoring.capacity import supply_of
from monitoring.models import TelemetrySource
from portal.core import clock
from schedulers.states import State, Wait
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import platform_scope


class PortalCollector(Collector):
    """Collect gauges that an operator may see."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with platform_scope("numbers for operators"):
            yield _attempts()
            yield _longest_waits()
            yield _silence()
            yield from _gpus(self._actor)
            yield _devices()
            yield from _nodes()
            yield from _health()
            yield from _sources()
            yield _budgets()
            yield from _portal()


def _attempts() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "muster_attempts",
        "Attempts of jobs that have not ended, by state.",
        labels=["cluster", "state"],
    )
    rows = (
        Attempt.objects.filter(state__lt=State.SUCCEEDED)
        .values("cluster__name", "state")
        .annotate(n=Count("id"))
    )
    for row in rows:
        # A pending job may have no cluster yet.
        family.add_metric([row["cluster__name"] or "", State(row["state"]).label], row["n"])
    return family


def _longest_waits() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "muster_queue_longest_wait_seconds",
        "How long the oldest pending task of a cluster has waited; not held, without dependencies.",
        labels=["cluster"],
    )
    rows = (
        Attempt.objects.filter(state=State.QUEUED, is_current=True, job__is_held=False)
        .exclude(wait__in=[Wait.HELD, Wait.DEPENDENCY])
        .order_by()
    )
    oldest = dict(rows.values_list("cluster__name").annotate(at=Min("queued_at")))
    names: set[str | None] = {*Cluster.objects.values_list("name", flat=True), *oldest}
    for name in sorted(names, key=str):
        waited = clock.now() - oldest[name] if name in oldest else None
        family.add_metric([name or ""], waited.total_seconds() if waited else 0)
    return family


def _silence() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "muster_cluster_silence_seconds", "Since the cluster last answered.", labels=["cluster"]
    )
    for cluster in Cluster.objects.all():
        seen = cluster.seen_at or cluster.created_at
        family.add_metric([cluster.name], max((clock.now() - seen).total_seconds(), 0))
    return family


def _gpus(actor: Actor) -> Iterator[GaugeMetricFamily]:
    """Yield GPUs as schedulers hand them out, by state: of clusters, and of pools."""
    whole = GaugeMetricFamily(
        "muster_gpus",
        "GPUs and MIG instances of a cluster by state: allocated, free or out_of_service.",
        labels=["cluster", "model", "state"],
    )
    pools = GaugeMetricFamily(
        "muster_pool_gpus",
        "GPUs and MIG instances of a pool by state. A GPU may be in several pools.",
        labels=["cluster", "pool", "model", "state"],
    )
    for supply in supply_of(actor):
        states = {
            "allocated": supply.gpus.used,
            "free": supply.gpus.free,
            "out_of_service": supply.gpus.off,
        }
        for state, n in states.items():
            if supply.pool is None:
                whole.add_metric([supply.cluster.name, supply.type, state], n)
            else:
                labels = [supply.cluster.name, supply.pool.name, supply.type, state]
                pools.add_metric(labels, n)
    yield whole
    yield pools


def _devices() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "muster_devices",
        "Physical GPUs that agents or telemetry sources report, by state: ready or lost.",
        labels=["cluster", "model", "state"],
    )
    rows = Device.objects.filter(node__is_gone=False).values("type", "is_lost")
    for row in rows.annotate(n=Count("id"), cluster=F("node__cluster__name")):
        state = "lost" if row["is_lost"] else "ready"
        family.add_metric([row["cluster"], row["type"], state], row["n"])
    return family


def _nodes() -> Iterator[GaugeMetricFamily]:
    nodes = GaugeMetricFamily(
        "muster_nodes", "Nodes by state: ready, drained or down.", labels=["cluster", "state"]
    )
    measured = GaugeMetricFamily(
        "muster_nodes_measured",
        "Nodes whose GPUs were measured in the last three minutes.",
        labels=["cluster"],
    )
    counts: Counter[tuple[str, str]] = Counter()
    nodes_by_state = Node.objects.filter(is_gone=False).values_list(
        "cluster__name", "is_ready", "is_drained"
    )
    for cluster, is_ready, is_drained in nodes_by_state:
        counts[cluster, node_state(is_ready, is_drained)] += 1
    for (cluster, state), n in sorted(counts.items()):
        nodes.add_metric([cluster, state], n)
    fresh = NodeUtilization.objects.filter(at__gt=clock.now() - FRESH).values("node_id")
    clusters = Cluster.objects.annotate(n=Count("nodes", filter=Q(nodes__in=fresh)))
    for row in clusters.order_by("name"):
        measured.add_metric([row.name], row.n)
    yield nodes
    yield measured


def _health() -> Iterator[GaugeMetricFamily]:
    nodes = GaugeMetricFamily(
        "muster_nodes_unhealthy",
        "Nodes by health: warning, draining or quarantined.",
        labels=["cluster", "health"],
    )
    findings = GaugeMetricFamily(
        "muster_health_findings",
        "What health checks find now on nodes and GPUs, by check.",
        labels=["cluster", "check"],
    )
    rows = NodeHealth.objects.filter(node__is_gone=False, state__in=UNHEALTHY).order_by()
    counts = rows.values_list("node__cluster__name", "state").annotate(n=Count("id"))
    found = {(cluster, state): n for cluster, state, n in counts}
    for cluster in Cluster.objects.order_by("name").values_list("name", flat=True):
        for state in UNHEALTHY:
            nodes.add_metric([cluster, state], found.get((cluster, state), 0))
    now = HealthFinding.objects.filter(node__is_gone=False, ended_at=None).order_by()
    by_check = now.values_list("node__cluster__name", "check_code").annotate(n=Count("id"))
    for cluster, check, n in by_check:
        findings.add_metric([cluster, check], n)
    yield nodes
    yield findings


def _budgets() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "muster_budget_used_ratio",
        "Cost of this month as a share of the budget; the team is empty for an organization's.",
        labels=["org", "team"],
    )
    month = month_of(clock.now().date())
    for row in Budget.objects.filter(month=month, amount__gt=0).select_related("org", "team"):
        team = row.team.slug if row.team else ""
        family.add_metric([row.org.slug, team], float(row.spent / row.amount))
    return family


def _portal() -> Iterator[GaugeMetricFamily]:
    """Yield what shows whether background tasks run, and the room for logs and files."""
    age = GaugeMetricFamily(
        "muster_background_age_seconds",
        "Since background tasks last updated the ledger, which they do every two minutes.",
    )
    _, through = behind()
    if through:
        age.add_metric([], max((clock.now() - through).total_seconds(), 0))
    disk = shutil.disk_usage(settings.MUSTER_HOME)
    size = GaugeMetricFamily("muster_home_size_bytes", "Size of the disk of MUSTER_HOME.")
    free = GaugeMetricFamily("muster_home_free_bytes", "Free space on the disk of MUSTER_HOME.")
    size.add_metric([], disk.total)
    free.add_metric([], disk.free)
    yield age
    yield size
    yield free


def _sources() -> Iterator[GaugeMetricFamily]:
    labels = ["source", "cluster", "kind"]
    up = GaugeMetricFamily(
        "muster_telemetry_source_up", "1 if the last reading succeeded.", labels=labels
    )
    samples = GaugeMetricFamily(
        "muster_telemetry_source_samples", "Values of the last reading.", labels=labels
    )
    for row in TelemetrySource.objects.filter(is_enabled=True).select_related("cluster"):
        named = [row.name, row.cluster.name, row.kind]
        up.add_metric(named, float(bool(row.read_at and not row.problem)))
        samples.add_metric(named, row.samples)
    yield up
    yield samples
