"""The chain over the events, what vouches for it, and what was found when it was last looked through."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7


class AuditLink(models.Model):
    """One event's place in the chain of its organization: `hash` is SHA-256 of the hash before it and the event's canonical bytes.
    `seq` counts from 1 in the order of sealing. Inserted by the sealer and never changed; deleted by retention only."""

    position = models.BigIntegerField(primary_key=True)  # of the event
    chain = models.UUIDField()  # the organization's id; zero for events of none
    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)

    class Meta:
        app_label = "core"
        constraints = [models.UniqueConstraint(fields=["chain", "seq"], name="audit_link_once")]

    def __str__(self) -> str:
        return f"{self.chain} {self.seq}"


class AuditAnchor(models.Model):
    """The chain as it was at a moment, under a key that the database does not hold: who rewrites the chain cannot rewrite this.
    `cut`: everything up to `seq` was deleted by retention, and the chain goes on from `hash`. Inserted only; numbered without gap."""

    class Kind(models.TextChoices):
        ANCHOR = "anchor"
        CUT = "cut"

    chain = models.UUIDField()
    number = models.BigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)
    at = models.DateTimeField(default=clock.now)
    mac = models.BinaryField(max_length=32)

    class Meta:
        app_label = "core"
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="audit_anchor_once")
        ]

    def __str__(self) -> str:
        return f"{self.chain} {self.kind} {self.seq}"


class AuditCheck(models.Model):
    """What looking through a chain found the last time, and whether somebody asked for it since. Written by the verifier and by
    those who ask."""

    chain = models.UUIDField(primary_key=True)
    asked_at = models.DateTimeField(null=True)
    at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0)
    events = models.BigIntegerField(default=0)
    fault_count = models.IntegerField(default=0)
    faults = models.JSONField(default=list)  # the first of them: kind, seq, text

    class Meta:
        app_label = "core"

    def __str__(self) -> str:
        return f"{self.chain} {self.at}"


class AuditPolicy(models.Model):
    """How long the events of a chain are kept. Without a row, or with None, for ever. `trouble`: why nothing is deleted though it
    is time. Written by those who may, and by retention."""

    chain = models.UUIDField(primary_key=True)
    keep_days = models.PositiveIntegerField(null=True)
    trouble = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        app_label = "core"

    def __str__(self) -> str:
        return f"{self.chain} {self.keep_days}"


class AuditForward(models.Model):
    """A place outside to which a chain's events go, in the chain's order: `sent_seq` is the last one that arrived. Written by those
    who may, and by the forwarder."""

    SEALED: ClassVar[dict[str, str]] = {
        "secret": "audit forwards"
    }  # for `manage.py rotate_secrets`

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    chain = models.UUIDField()
    target = models.CharField(
        max_length=500
    )  # https://…, syslog+tls://host:port, syslog+tcp://…, syslog+udp://…
    secret = models.BinaryField(default=bytes)  # encrypted; with it webhooks are signed
    sent_seq = models.BigIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)  # that failed since the last that did not
    next_at = models.DateTimeField(default=clock.now)
    trouble = models.CharField(max_length=300, blank=True, default="")
    dead_at = models.DateTimeField(null=True)  # given up, until somebody says to try again
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.CharField(max_length=254)

    class Meta:
        app_label = "core"
        indexes = [models.Index(fields=["chain"], name="audit_forward_chain")]

    def __str__(self) -> str:
        return f"{self.chain} {self.target}"
