"""When the ports of a job were used."""

from __future__ import annotations

from django.db import models

from jobs.models.attempt import Attempt
from workspaces.tenancy.models import TenantModel


class PortActivity(TenantModel):
    """The use of one port of an attempt, as the gateway last reported it.

    Written by `jobs.ports.activity`, every few seconds while the port is in use. `open_streams`
    counts websockets and forwarded connections; it is only true while `reported_at` is fresh.
    `person_at` is the last sign of a person, which an open tab alone does not give
    (`portal.gateway.person`). `busy_at` is when the app last said that it computes, and `asked_at` when it
    last answered that question.
    """

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="port_activity")
    port = models.PositiveIntegerField()
    last_used_at = models.DateTimeField()
    open_streams = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField(null=True)  # the first time
    reported_at = models.DateTimeField()
    person_at = models.DateTimeField(null=True)
    busy_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["attempt", "port"], name="port_activity_once")
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id}:{self.port}"
