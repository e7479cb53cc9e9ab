"""Credentials that are not passwords."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import Team, User
from workspaces.tenancy.models import TenantModel

SERVICE_DOMAIN = (
    ".service.invalid"  # the end of service accounts' addresses, which no mail reaches (RFC 2606)
)


class AccessToken(TenantModel):
    """A scoped, expiring credential of a person, of a service account, or of one attempt of a job. Only its HMAC is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    attempt_id = models.UUIDField(null=True, db_index=True)  # set: lives and dies with that attempt
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # the first characters, to recognise it by
    scopes = models.JSONField(default=list)  # permission values, or ["all"]
    networks = models.JSONField(default=list)  # CIDRs that it works from; none: from anywhere
    made_by = models.CharField(max_length=254, blank=True, default="")
    # made in a session that this organization's own provider vouched for: it ends with that bond
    vouched_by = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    successor_id = models.UUIDField(null=True)  # it was rotated: the token that takes its place
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.CharField(max_length=45, blank=True, default="")
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}… {self.name}"


class ServiceAccount(TenantModel):
    """A member of an organization that is no person: it never signs in, and acts by tokens that those who manage it make. What it
    may comes from memberships, as with people. Written by `services.service_accounts`; removed ones stay, as their jobs do."""

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
    """A code of a person's authenticator app that was used, for as long as it could be used again. Written by `second_factor`."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="code_spent_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.at}"


class SignIn(models.Model):
    """A session of a person: with what, whence and when it was last used. `key` is Django's of the session. Written by `sessions`."""

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
    """An operator acts as a person in one session of theirs, for at most an hour and for a reason. Over at `ends_at` by itself; `ended_at`:
    before that. Written by `services.impersonation`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    operator = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    why = models.CharField(max_length=200)
    began_at = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.operator_id} as {self.person_id}"
