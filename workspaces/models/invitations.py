"""Invitations."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models.people import User
from workspaces.tenancy.models import TenantModel


class Invitation(TenantModel):
    """A single-use link by which a user joins an organization and its teams.

    Only its HMAC is stored. Written by `services.invitations`.
    """

    email = models.EmailField()
    name = models.CharField(max_length=100, blank=True, default="")
    role = models.CharField(max_length=40, default="member")
    teams = models.JSONField(default=list)  # [{"team": id in hex, "role": …}]
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    sent_at = models.DateTimeField(null=True)  # last time it was mailed
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_open_once",
            )
        ]

    def __str__(self) -> str:
        return self.email
