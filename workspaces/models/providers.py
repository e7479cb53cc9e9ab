"""Identity providers, the identities they vouch for, and the roles their groups give."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField
from workspaces.models.people import Organization, Team, User


class Provider(models.Model):
    """A directory or sign-in service of an organization, or of the installation (`org` null).

    Those of the installation are managed by operators only. `config` is what a form shows; its
    secret fields are in `secrets`. Written by `workspaces.identity.provider_services`; `seen_at`
    and `trouble` by the code that connects to it.
    """

    SEALED: ClassVar[dict[str, str]] = {"secrets": "provider"}  # for `manage.py rotate_secrets`

    class Kind(models.TextChoices):
        LDAP = "ldap"
        OIDC = "oidc"
        SAML = "saml"
        SCIM = "scim"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    # `slug` is part of URLs that the provider stores, so it is unique and never changes.
    # `short_name` is used in the organization's own pages, API and commands.
    slug = models.SlugField(max_length=100, unique=True)
    # Set to the slug on save if empty
    short_name = models.SlugField(max_length=40, default="", blank=True)
    name = models.CharField(max_length=100)
    config = models.JSONField(default=dict)
    # JSON of the secret fields, encrypted by `portal.core.vault`
    secrets = models.BinaryField(default=bytes, editable=False)
    # e-mail domains it vouches for, lower case; an organization's provider creates accounts only
    # there
    domains = models.JSONField(default=list)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(null=True)  # last answer
    # Last error, from the provider or ours; empty: healthy
    trouble = MessageField(blank=True)
    trouble_since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["org", "short_name"], name="provider_name_once_in_org"),
            models.UniqueConstraint(
                fields=["short_name"],
                condition=models.Q(org=None),
                name="provider_name_once_without_org",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.short_name = self.short_name or self.slug
        super().save(*args, **kwargs)


class Identity(models.Model):
    """A user as known to one provider. Linked by (provider, subject), never by e-mail address."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="identities")
    # An id the provider never reassigns: entryUUID, objectGUID, sub, NameID
    subject = models.CharField(max_length=400)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    login = models.CharField(max_length=254, blank=True)  # user name at the provider, for display
    # Last known to the provider
    email = models.CharField(max_length=254, blank=True, default="", db_default="")
    groups = models.JSONField(default=list)  # last known, sorted
    seen_at = models.DateTimeField(default=clock.now)  # last time the provider listed the user
    gone_since = models.DateTimeField(null=True)  # since when it does not

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "subject"], name="identity_once")
        ]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.subject}"


class GroupRule(models.Model):
    """The role that a provider's group gives in an organization or in one of its teams.

    For each organization and team, the first matching rule by `position` decides. `group` "*"
    matches every user of the provider.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="rules")
    position = models.PositiveIntegerField()
    group = models.CharField(max_length=400)  # a DN, or a value of the claim
    org = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "position"], name="group_rule_position_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.group} → {self.role}"
