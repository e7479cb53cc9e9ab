"""Rows that no tenant rule governs: facts, leases and remembered answers."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7


class Event(models.Model):
    """One immutable fact, e.g. `job.submitted`: the audit trail and the outbox at once. Written by services only,
    in the transaction of what it tells. `position` rises in order of insertion."""

    position = models.BigAutoField(primary_key=True)
    id = models.UUIDField(default=uuid7, unique=True, editable=False)
    at = models.DateTimeField(default=clock.now)
    kind = models.CharField(max_length=64)
    org_id = models.UUIDField(null=True)
    actor = models.CharField(max_length=254, blank=True)
    on_behalf_of = models.CharField(max_length=254, blank=True, default="", db_default="")
    via = models.CharField(
        max_length=150, blank=True, default="", db_default=""
    )  # what the actor came with: `session`, `token <id> <name>`
    address = models.CharField(max_length=45, blank=True, default="", db_default="")  # the client's
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
    """Who may lead a piece of work now (one watcher a cluster, one planner). Taken and renewed by `leases`."""

    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=100)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder}"


class Installation(models.Model):
    """What a portal compares at its start, so that another one does not work on this database by mistake. One row, written by
    `portal.process.installation`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    key_mac = models.CharField(max_length=64)  # of `id`, by the secret key
    home_id = models.CharField(
        max_length=32, blank=True
    )  # of the home where the jobs of local clusters live; empty: none yet
    home = models.CharField(
        max_length=500, blank=True
    )  # where that was when it was last used, for people

    def __str__(self) -> str:
        return str(self.id)


class RememberedAnswer(models.Model):
    """The answer given to an `Idempotency-Key`, so that a repeated request gets it again. Written by the REST door."""

    key = models.CharField(
        max_length=64, primary_key=True
    )  # HMAC of actor, path and the client's key
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(
        null=True
    )  # null: the first request is still under way
    body = models.JSONField(null=True)
    at = models.DateTimeField(default=clock.now, db_index=True)

    def __str__(self) -> str:
        return self.key


from portal.core.audit.models import AuditAnchor, AuditCheck, AuditForward, AuditLink, AuditPolicy  # noqa: E402, F401  Django looks for models here
