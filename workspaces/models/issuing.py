"""Muster as an OpenID provider. Applications are allauth's `Client` rows."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import User


class SigningKey(models.Model):
    """A key that signs ID tokens.

    It is published before its first and for a while after its last use. Written by
    `workspaces.identity.oidc_provider.keys`.
    """

    SEALED: ClassVar[dict[str, str]] = {"sealed": "signing key"}  # for `manage.py rotate_secrets`
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sealed = models.BinaryField(editable=False)  # PEM, encrypted by `portal.core.vault`
    issued_at = models.DateTimeField(default=clock.now)
    signs_from = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField(null=True)  # no longer published after this

    def __str__(self) -> str:
        return str(self.id)


class Consent(models.Model):
    """A user's consent to share these claims with an application; it is asked for once.

    Written by `workspaces.identity.oidc_provider.views`.
    """

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
