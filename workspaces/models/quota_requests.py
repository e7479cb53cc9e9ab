"""Requests for higher limits."""

from __future__ import annotations

from django.db import models

from workspaces.models.approvals import ApprovalRequest


class QuotaRequest(ApprovalRequest):
    """A request to raise a limit to `amount` (in the unit of storage)."""

    scope = models.CharField(max_length=8)
    subject_id = models.UUIDField()
    subject = models.CharField(max_length=254)
    resource = models.CharField(max_length=40)
    amount = models.BigIntegerField()
    why = models.CharField(max_length=500, blank=True)
    job = models.PositiveBigIntegerField(null=True)  # number of the job that waits for it

    class Meta(ApprovalRequest.Meta):
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
