"""Requests that somebody else decides."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models.people import Team, User
from workspaces.tenancy.models import TenantModel


class ApprovalState(models.TextChoices):
    """Whether a request is decided; `ended` was approved until it was returned or its time was over."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"  # nobody decided in time
    ENDED = "ended"


class ApprovalRequest(TenantModel):
    """A request of any kind, written by `workspaces.approvals.services`.

    A kind whose requests have columns of their own derives from this; the others use `Approval`.
    """

    State = ApprovalState

    asker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(
        max_length=10, choices=ApprovalState.choices, default=ApprovalState.OPEN
    )
    created_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=254, blank=True)
    word = models.CharField(max_length=500, blank=True)  # of who decided

    class Meta(TenantModel.Meta):
        abstract = True


class Approval(ApprovalRequest):
    """A request about an object, such as a version of a model; at most one is open for it.

    `kind` is the name of an `ApprovalKind`, `subject_id` the object's id and `subject` its name when
    it was asked. Undecided, it expires at `expires_at`; approved, it ends then.
    """

    kind = models.CharField(max_length=40)
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    subject_id = models.UUIDField()
    subject = models.CharField(max_length=300)
    why = models.TextField(blank=True)
    word = models.TextField(blank=True)
    expires_at = models.DateTimeField(null=True)

    class Meta(ApprovalRequest.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "kind", "subject_id"],
                condition=models.Q(state="open"),
                name="approval_open_once",
            )
        ]
        indexes = [
            models.Index(fields=["org", "kind", "subject_id"], name="approval_subject"),
            models.Index(
                fields=["expires_at"],
                name="approval_expires",
                condition=models.Q(state__in=("open", "approved"), expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
