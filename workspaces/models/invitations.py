"""People who were asked to come."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models.people import User
from workspaces.tenancy.models import TenantModel


class Invitation(TenantModel):
    """A link by which one person, known by e-mail, joins an organization and teams of it, once. Only its HMAC is stored. Written by
    `services.invitations`."""

    email = models.EmailField()
    name = models.CharField(max_length=100, blank=True, default="")
    role = models.CharField(max_length=40, default="member")
    teams = models.JSONField(default=list)  # [{"team": its id in hex, "role": …}]
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    sent_at = models.DateTimeField(null=True)  # by e-mail, the last time
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
