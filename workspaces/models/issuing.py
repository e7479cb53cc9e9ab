"""The portal as a provider of sign-in to other applications. The applications themselves are allauth's `Client` rows."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import User


class SigningKey(models.Model):
    """What the portal signs ID tokens with. Published before it signs and for a while after it has ceased to.
    Written by `workspaces.identity.oidc_provider.keys`."""

    SEALED: ClassVar[dict[str, str]] = {"sealed": "signing key"}  # for `manage.py rotate_secrets`
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sealed = models.BinaryField(editable=False)  # PEM, by `portal.core.vault`
    issued_at = models.DateTimeField(default=clock.now)
    signs_from = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField(null=True)  # no longer published after

    def __str__(self) -> str:
        return str(self.id)


class Consent(models.Model):
    """A person agreed that an application learns these things of them, and is not asked again. Written by
    `workspaces.identity.oidc_provider.views`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    client = models.ForeignKey(
        "allauth_idp_oidc.Client", on_delete=models.CASCADE, related_name="+"
    )
    scopes = models.JSONField(default=list)
    given_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "client"], name="consent_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.client_id}"
