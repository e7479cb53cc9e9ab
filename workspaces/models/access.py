"""Credentials other than passwords."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import Team, User
from workspaces.tenancy.models import TenantModel

# Domain of service accounts' addresses, which never receive mail (RFC 2606)
SERVICE_DOMAIN = ".service.invalid"


class AccessToken(TenantModel):
    """A scoped, expiring credential of a user, a service account or an attempt of a job.

    Only its HMAC is stored.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    # set: the token lives as long as the attempt
    attempt_id = models.UUIDField(null=True, db_index=True)
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # first characters, to recognise the token by
    scopes = models.JSONField(default=list)  # permission values, or ["all"]
    networks = models.JSONField(default=list)  # CIDRs it may be used from; empty: any address
    # of node agents: the cluster whose nodes it may report; empty: every cluster
    cluster = models.CharField(max_length=40, blank=True, default="")
    made_by = models.CharField(max_length=254, blank=True, default="")
    # The provider that signed in the session this token was made in. The token is revoked when that
    # provider no longer vouches for the user.
    vouched_by = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    successor_id = models.UUIDField(null=True)  # set once rotated: the token that replaces it
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.CharField(max_length=45, blank=True, default="")
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}… {self.name}"


class ServiceAccount(TenantModel):
    """A member of an organization that is not a person.

    It never signs in and acts through tokens created by its managers. Its permissions come from
    memberships. Written by `services.service_accounts`; removed ones are kept, as their jobs are.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="+")
    name = models.SlugField(max_length=40)
    note = models.CharField(max_length=200, blank=True, default="")
    made_by = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=clock.now)
    removed_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "name"], name="service_account_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class SpentCode(models.Model):
    """A used code of an authenticator app, kept as long as it could be replayed.

    Written by `second_factor`.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="code_spent_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.at}"


class SignIn(models.Model):
    """A session of a user: client, address and last use. `key` is Django's session key.

    Written by `sessions`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=40, unique=True)
    agent = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=45, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    last_seen_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"{self.user_id} {self.address}"


class Impersonation(models.Model):
    """An operator impersonates a user in one session, with a reason and for at most an hour.

    Expires at `ends_at`; `ended_at` is set if it was stopped before. Written by
    `services.impersonation`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    operator = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    why = models.CharField(max_length=200)
    began_at = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.operator_id} as {self.person_id}"
