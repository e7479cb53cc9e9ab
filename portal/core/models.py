"""Models without a tenant: events, leases and stored responses."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7


class Event(models.Model):
    """One immutable event, e.g. `job.submitted`; both the audit trail and the outbox.

    Written only by services, in the transaction of the change. `position` increases in insertion
    order.
    """

    position = models.BigAutoField(primary_key=True)
    id = models.UUIDField(default=uuid7, unique=True, editable=False)
    at = models.DateTimeField(default=clock.now)
    kind = models.CharField(max_length=64)
    org_id = models.UUIDField(null=True)
    actor = models.CharField(max_length=254, blank=True)
    on_behalf_of = models.CharField(max_length=254, blank=True, default="", db_default="")
    # The credential: `session`, `token <id> <name>`.
    via = models.CharField(max_length=150, blank=True, default="", db_default="")
    # The client's IP address.
    address = models.CharField(max_length=45, blank=True, default="", db_default="")
    subject_type = models.CharField(max_length=32, blank=True)
    subject_id = models.UUIDField(null=True)
    data = models.JSONField(default=dict)
    request_id = models.CharField(max_length=36, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["subject_id", "position"], name="event_subject"),
            models.Index(fields=["org_id", "-position"], name="event_org"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_id}"


class Lease(models.Model):
    """Who currently leads a piece of work (one watcher per cluster, one planner); see `leases`."""

    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=100)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder}"


class Installation(models.Model):
    """Identifies the installation, so that another one does not use this database by mistake.

    Has one row, written by `portal.process.installation`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # HMAC of `id` under the secret key.
    key_mac = models.CharField(max_length=64)
    # Identifies the home directory that holds the jobs of local clusters; empty if there is none
    # yet.
    home_id = models.CharField(max_length=32, blank=True)
    # Last known path of that directory, for display.
    home = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return str(self.id)


class RememberedAnswer(models.Model):
    """The response to an `Idempotency-Key`, returned again for a repeated request."""

    # HMAC of actor, path and the client's key.
    key = models.CharField(max_length=64, primary_key=True)
    body_hash = models.CharField(max_length=64)
    # Null while the first request is in progress.
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    at = models.DateTimeField(default=clock.now, db_index=True)

    def __str__(self) -> str:
        return self.key


from portal.core.audit.models import AuditAnchor, AuditCheck, AuditForward, AuditLink, AuditPolicy  # noqa: E402, F401  # Django finds them here
