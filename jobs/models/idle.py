"""Rules for idle GPUs of pools, and what they did to jobs."""

from __future__ import annotations

from django.db import models

from clusters.models import Pool
from jobs.models.job import Job
from portal.core import clock
from workspaces.tenancy.models import TenantModel


class IdleRule(models.Model):
    """What happens to jobs of a pool whose GPUs are idle. Written by operators.

    A job is idle if each of its GPUs stayed below the threshold for `window` minutes. Its owner is
    warned; `grace` minutes later the job is stopped, or its priority lowered. `metric` says what is
    measured: `auto` takes SM activity where it is known, else power if `watts` is set, else
    utilization, which counts any kernel. With `ports` a job is idle if it serves something and
    nobody used its ports for that long, whatever its GPUs do. Jobs with one of the labels in
    `exempt` (`name` or `name=value`) are left alone; with `spares_exec` also jobs in which somebody
    ran a command within the window, and with `spares_ports` those whose ports were used.
    """

    class Metric(models.TextChoices):
        AUTO = "auto"
        SM = "sm"
        POWER = "power"
        UTILIZATION = "utilization"
        PORTS = "ports"

    class Action(models.TextChoices):
        WARN = "warn"
        LOWER = "lower"
        STOP = "stop"

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="idle_rule")
    is_enabled = models.BooleanField(default=True)
    metric = models.CharField(max_length=12, choices=Metric.choices, default=Metric.AUTO)
    threshold = models.PositiveSmallIntegerField(default=5)  # percent, of SM or utilization
    watts = models.PositiveIntegerField(null=True)  # per GPU, for power
    window = models.PositiveIntegerField(default=60)  # minutes
    action = models.CharField(max_length=8, choices=Action.choices, default=Action.WARN)
    grace = models.PositiveIntegerField(default=30)  # minutes
    exempt = models.JSONField(default=list)
    spares_exec = models.BooleanField(default=True)
    spares_ports = models.BooleanField(default=True)
    changed_at = models.DateTimeField(default=clock.now)
    changed_by = models.CharField(max_length=254)

    def __str__(self) -> str:
        return f"{self.pool_id} {self.action}"


class IdleCase(TenantModel):
    """A job that a rule has found idle, or that its owner keeps.

    Written by `jobs.utilization.idle_rules`; deleted when the GPUs are used again.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="idle_case")
    warned_at = models.DateTimeField(null=True)
    acts_at = models.DateTimeField(null=True)  # null: the rule warns only
    acted_at = models.DateTimeField(null=True)
    action = models.CharField(max_length=8, blank=True)
    keep_until = models.DateTimeField(null=True)
    kept_by = models.CharField(max_length=254, blank=True)

    def __str__(self) -> str:
        return f"{self.job_id} {self.warned_at}"
