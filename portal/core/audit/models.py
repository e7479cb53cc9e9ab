"""The hash chain over the events, its signed anchors, and the results of verification."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField, MessageJSONField


class AuditLink(models.Model):
    """The place of an event in the chain of its organization.

    `hash` is the SHA-256 of the previous hash and the event's canonical bytes. `seq` counts from 1
    in the order of sealing. Links are inserted by the sealer, never changed, and deleted only by
    retention.
    """

    position = models.BigIntegerField(primary_key=True)  # of the event
    chain = models.UUIDField()  # the organization's id; zero for events without one
    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)

    class Meta:
        app_label = "core"
        constraints = [models.UniqueConstraint(fields=["chain", "seq"], name="audit_link_once")]

    def __str__(self) -> str:
        return f"{self.chain} {self.seq}"


class AuditAnchor(models.Model):
    """The state of a chain, signed with a key that is not in the database.

    Whoever rewrites the chain cannot rewrite its anchors. A `cut` anchor records that retention
    deleted everything up to `seq`; the chain continues from `hash`. Insert-only, numbered without
    gaps.
    """

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
    """The result of the last verification of a chain, and when one was last requested."""

    chain = models.UUIDField(primary_key=True)
    asked_at = models.DateTimeField(null=True)
    at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0)
    events = models.BigIntegerField(default=0)
    fault_count = models.IntegerField(default=0)
    faults = MessageJSONField(default=list)  # the first of them: kind, seq, text

    class Meta:
        app_label = "core"

    def __str__(self) -> str:
        return f"{self.chain} {self.at}"


class AuditPolicy(models.Model):
    """The retention policy of a chain; no row or None keeps events forever.

    `trouble` explains why nothing is deleted although it is due.
    """

    chain = models.UUIDField(primary_key=True)
    keep_days = models.PositiveIntegerField(null=True)
    trouble = MessageField(blank=True, default="")

    class Meta:
        app_label = "core"

    def __str__(self) -> str:
        return f"{self.chain} {self.keep_days}"


class AuditForward(models.Model):
    """An external target for the events of a chain; `sent_seq` is the last event delivered."""

    SEALED: ClassVar[dict[str, str]] = {
        "secret": "audit forwards"
    }  # for `manage.py rotate_secrets`

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    chain = models.UUIDField()
    # https://…, syslog+tls://host:port, syslog+tcp://… or syslog+udp://…
    target = models.CharField(max_length=500)
    secret = models.BinaryField(default=bytes)  # encrypted; signs webhooks
    sent_seq = models.BigIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)  # failures since the last success
    next_at = models.DateTimeField(default=clock.now)
    trouble = MessageField(blank=True, default="")
    dead_at = models.DateTimeField(null=True)  # given up, until somebody requests a retry
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.CharField(max_length=254)

    class Meta:
        app_label = "core"
        indexes = [models.Index(fields=["chain"], name="audit_forward_chain")]

    def __str__(self) -> str:
        return f"{self.chain} {self.target}"
