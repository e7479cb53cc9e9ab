"""Usage: ledger, prices, budgets, statements and rollups (docs/design/usage.md).

Amounts are integers: GPUs, millicores and MiB, multiplied by milliseconds. Days are days in UTC.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel


class LedgerKind(models.TextChoices):
    JOB = "job"
    RESERVATION = "reservation"  # promised GPUs that the team's jobs did not use
    STORAGE = "storage"
    LOST = "lost"  # time of a job that the platform interrupted, since it last saved its outputs


class LedgerLine(TenantModel):
    """Use of one resource class on one day by an attempt, a granted pool request, or stored data.

    `source` is the id of the attempt, the request, or the team. `quantity` is `units` times the
    milliseconds from `start_ms` to `end_ms`; of a reservation, without what jobs used. Written by
    `billing.services.ledger` only.
    """

    Kind = LedgerKind

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=12, choices=LedgerKind.choices)
    source = models.UUIDField()
    user_id = models.UUIDField(null=True)  # owner of the job
    job_id = models.UUIDField(null=True)
    job_number = models.PositiveBigIntegerField(null=True)
    cluster_id = models.UUIDField(null=True)
    pool = models.CharField(max_length=40, blank=True)
    resource = models.CharField(max_length=40)  # "gpu.h100", "gpu", "cpu", "memory", "storage"
    day = models.DateField()
    start_ms = models.BigIntegerField()  # Unix time
    end_ms = models.BigIntegerField()
    units = models.BigIntegerField()
    quantity = models.BigIntegerField()

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["source", "resource", "day", "kind"], name="ledger_line_of_kind_once"
            )
        ]
        indexes = [
            models.Index(fields=["org", "day"], name="ledger_day"),
            models.Index(fields=["job_id"], name="ledger_job", condition=Q(job_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.resource} {self.day} {self.quantity}"


class UsageDay(TenantModel):
    """Sum of the ledger lines of a day; recomputed when lines of that day change."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=12, choices=LedgerKind.choices)
    user_id = models.UUIDField(null=True)
    cluster_id = models.UUIDField(null=True)
    pool = models.CharField(max_length=40, blank=True)
    resource = models.CharField(max_length=40)
    day = models.DateField()
    quantity = models.BigIntegerField()

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["org", "day"], name="usage_day")]

    def __str__(self) -> str:
        return f"{self.kind} {self.resource} {self.day} {self.quantity}"


class ChangedDay(TenantModel):
    """A day whose sums must be computed again; written with the lines, in their transaction."""

    day = models.DateField()

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "day"], name="changed_day_once")]

    def __str__(self) -> str:
        return f"{self.org_id} {self.day}"


class Progress(models.Model):
    """How far a consumer of events has read, and until when running use is in the ledger."""

    name = models.CharField(max_length=40, primary_key=True)
    position = models.BigIntegerField(default=0)  # of the last event
    through = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} {self.position}"


class Price(models.Model):
    """The price of an hour of a resource class from a day on, until the next one of the class.

    Per GPU-hour, core-hour, or GiB-hour of memory and storage. That of "lost" is the percentage of
    the price that teams pay for lost time. Written by operators.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    currency = models.CharField(max_length=3)
    resource = models.CharField(max_length=40)
    starts_on = models.DateField()
    amount = models.DecimalField(max_digits=18, decimal_places=8)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["currency", "resource", "starts_on"], name="usage_price_once"
            ),
            models.CheckConstraint(condition=Q(amount__gte=0), name="usage_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.resource} {self.amount} {self.currency} from {self.starts_on}"


class BillingAccount(TenantModel):
    """How an organization pays. Without a row: showback in the default currency."""

    class Mode(models.TextChoices):
        SHOWBACK = "showback"  # for information
        CHARGEBACK = "chargeback"  # to be paid

    currency = models.CharField(max_length=3)
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.SHOWBACK)
    address = models.TextField(max_length=1000, blank=True)  # on statements

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org"], name="billing_account_once")]

    def __str__(self) -> str:
        return f"{self.org_id} {self.currency}"


class Discount(TenantModel):
    """A percentage off from a day on, until the next one; that of a team replaces the organization's."""

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    percent = models.DecimalField(max_digits=5, decimal_places=2)
    starts_on = models.DateField()

    class Meta(TenantModel.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(percent__gte=0, percent__lte=100), name="discount_is_percent"
            ),
            models.UniqueConstraint(
                fields=["team", "starts_on"],
                name="discount_team_once",
                condition=Q(team__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["org", "starts_on"], name="discount_org_once", condition=Q(team=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.percent}% from {self.starts_on}"


class Credit(TenantModel):
    """An amount that statements use up, from a day on; `team` None: of the whole organization."""

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    currency = models.CharField(max_length=3)
    amount = models.DecimalField(max_digits=18, decimal_places=2)
    used = models.DecimalField(max_digits=18, decimal_places=2, default=0)
    starts_on = models.DateField()
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(used__gte=0, used__lte=models.F("amount")), name="credit_not_overdrawn"
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


class Budget(TenantModel):
    """What an organization (`team` None) or a team means to spend in each month.

    `spent` is the cost of `month` when it was last checked, and `reached` the highest threshold
    that was reported for it. With `stops`, new jobs are refused once it is spent.
    """

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    amount = models.DecimalField(max_digits=18, decimal_places=2)
    stops = models.BooleanField(default=False)
    month = models.DateField(null=True)
    spent = models.DecimalField(max_digits=18, decimal_places=2, default=0)
    reached = models.PositiveSmallIntegerField(default=0)  # percent: 0, 50, 80 or 100

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["team"], name="budget_team_once", condition=Q(team__isnull=False)
            ),
            models.UniqueConstraint(fields=["org"], name="budget_org_once", condition=Q(team=None)),
        ]

    def __str__(self) -> str:
        return f"{self.amount} a month"


class Statement(TenantModel):
    """What an organization used in a month, and what it costs. Never changes once issued.

    `document` holds all lines; `sha256` is the hash of its canonical JSON.
    """

    number = models.CharField(max_length=80)  # "atlas-2026-11"
    month = models.DateField()  # first day
    currency = models.CharField(max_length=3)
    total = models.DecimalField(max_digits=18, decimal_places=2)
    issued_at = models.DateTimeField(default=clock.now)
    issued_by = models.CharField(max_length=254)
    document = models.JSONField()
    sha256 = models.CharField(max_length=64)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "month"], name="statement_once")]

    def __str__(self) -> str:
        return self.number

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row; refuse to change one."""
        if not self._state.adding:
            raise ValueError("an issued statement never changes")
        super().save(*args, **kwargs)


class GpuShare(models.Model):
    """Where GPU time went, in GPU-milliseconds. Base of the rollups of waste."""

    hour = models.DateTimeField()  # start of the hour; of a day's sum, of the day
    is_day = models.BooleanField(default=False)
    cluster_id = models.UUIDField()
    pool = models.CharField(max_length=40, blank=True)
    gpu_class = models.CharField(max_length=40)  # "gpu.h100"
    used = models.BigIntegerField(default=0)
    idle = models.BigIntegerField(default=0)  # allocated, below 10%
    underused = models.BigIntegerField(default=0)  # allocated, in use, but not fully
    unmeasured = models.BigIntegerField(default=0)  # allocated, utilization unknown
    reserved = models.BigIntegerField(default=0)  # promised, not allocated

    class Meta:
        abstract = True


class TeamGpuTime(GpuShare, TenantModel):
    """GPU time of a team in an hour, or in a day."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "is_day", "hour", "team", "cluster_id", "pool", "gpu_class"],
                name="team_gpu_time_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.hour}"


class FleetGpuTime(GpuShare):
    """GPU time of all organizations in an hour or a day; the parts add up to `capacity`.

    `energy` is that of the GPUs whose power is known, for `metered` GPU-milliseconds.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    capacity = models.BigIntegerField()
    unusable = models.BigIntegerField(default=0)  # free, but fragmented or unhealthy
    free = models.BigIntegerField(default=0)
    unhealthy = models.BigIntegerField(default=0)  # on nodes in which a check found something
    energy = models.BigIntegerField(default=0)  # joules
    metered = models.BigIntegerField(default=0)
    watts = models.FloatField(null=True)  # in the last five minutes that were recorded of the hour

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_day", "hour", "cluster_id", "pool", "gpu_class"],
                name="fleet_gpu_time_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.hour}"


class AttemptGpuTime(TenantModel):
    """GPU time of an attempt in an hour or a day: the jobs behind the waste.

    `is_top`: among those of its organization that wasted most then. Pages of a whole organization
    look for its most wasteful jobs among these.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    attempt_id = models.UUIDField()
    job_id = models.UUIDField()
    hour = models.DateTimeField()
    is_day = models.BooleanField(default=False)
    cluster_id = models.UUIDField()
    pool = models.CharField(max_length=40, blank=True)
    gpu_class = models.CharField(max_length=40)
    gpus = models.PositiveIntegerField()
    used = models.BigIntegerField(default=0)
    idle = models.BigIntegerField(default=0)
    underused = models.BigIntegerField(default=0)
    unmeasured = models.BigIntegerField(default=0)
    is_top = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["attempt_id", "is_day", "hour"], name="attempt_gpu_time_once"
            )
        ]
        indexes = [
            models.Index(fields=["is_day", "hour"], name="attempt_gpu_time_hour"),
            models.Index(fields=["job_id"], name="attempt_gpu_time_job"),
            models.Index(
                fields=["is_day", "hour"], name="attempt_gpu_time_top", condition=Q(is_top=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id} {self.hour}"


class JobDay(TenantModel):
    """Statistics of the jobs that ended on a day: of a team, or of all (`team` None).

    `facts` holds counts and histograms that add up over days; see `billing.statistics`.
    """

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    facts = models.JSONField(default=dict)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["team", "day"], name="job_day_team_once", condition=Q(team__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["org", "day"], name="job_day_org_once", condition=Q(team=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.org_id} {self.team_id} {self.day}"


class FleetJobDay(models.Model):
    """Statistics of the jobs of all organizations that ended on a day, as in `JobDay`."""

    day = models.DateField(primary_key=True)
    facts = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.day)


class QueueHour(TenantModel):
    """The queue of a team in an hour, or of all teams (`team` None), from samples."""

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    queued = models.PositiveIntegerField()  # the most jobs that waited
    running = models.PositiveIntegerField()  # the most attempts that ran
    longest = models.PositiveIntegerField()  # seconds: the longest wait

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["team", "hour"],
                name="queue_hour_team_once",
                condition=Q(team__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["org", "hour"], name="queue_hour_org_once", condition=Q(team=None)
            ),
        ]
        indexes = [models.Index(fields=["org", "hour"], name="queue_hour")]

    def __str__(self) -> str:
        return f"{self.team_id} {self.hour}"


class FleetQueueHour(models.Model):
    """The queue of all organizations in an hour, as in `QueueHour`."""

    hour = models.DateTimeField(primary_key=True)
    queued = models.PositiveIntegerField()
    running = models.PositiveIntegerField()
    longest = models.PositiveIntegerField()

    def __str__(self) -> str:
        return str(self.hour)


class DashboardLayout(models.Model):
    """How a person has arranged the panels of a page: names in order, "-name" for a hidden one."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    page = models.CharField(max_length=20)
    panels = models.CharField(max_length=400)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "page"], name="dashboard_layout_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.page}"
