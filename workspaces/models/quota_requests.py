"""Requests for higher limits."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models.people import User
from workspaces.tenancy.models import TenantModel


class QuotaRequest(TenantModel):
    """A request to raise a limit to `amount` (in the unit of storage).

    Written by `services.quota_requests`. The decision, its author, time and message are written
    once.
    """

    class State(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        DECLINED = "declined"
        WITHDRAWN = "withdrawn"

    asker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    scope = models.CharField(max_length=8)
    subject_id = models.UUIDField()
    subject = models.CharField(max_length=254)
    resource = models.CharField(max_length=40)
    amount = models.BigIntegerField()
    why = models.CharField(max_length=500, blank=True)
    job = models.PositiveBigIntegerField(null=True)  # number of the job that waits for it
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=254, blank=True)
    word = models.CharField(max_length=500, blank=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "asker", "scope", "subject_id", "resource"],
                condition=models.Q(state="open"),
                name="quota_request_open_once",
            )
        ]
        indexes = [models.Index(fields=["org", "state", "-created_at"], name="quota_request_state")]

    def __str__(self) -> str:
        return f"{self.asker_id} asks {self.amount} {self.resource} of {self.scope} {self.subject}"
