"""Credentials that are not passwords."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models.people import Team, User
from workspaces.tenancy.models import TenantModel


class AccessToken(TenantModel):
    """A scoped, expiring credential of a person, or of one attempt of a job. Only its HMAC is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    attempt_id = models.UUIDField(null=True, db_index=True)     # set: lives and dies with that attempt
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)                      # the first characters, to recognise it by
    scopes = models.JSONField(default=list)                     # permission values, or ["all"]
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}… {self.name}"
