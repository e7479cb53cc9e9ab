"""Where people are known from: directories and single sign-on, whom they vouch for, and what their groups give."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.people import Organization, Team, User


class Provider(models.Model):
    """An organization's directory or sign-in service, or one of the whole installation (`org` null, operators only).
    `config` is what a form shows; its secret fields are in `secrets`. Written by `workspaces.identity.provider_services`;
    `seen_at` and `trouble` by who talks to it."""

    SEALED: ClassVar[dict[str, str]] = {"secrets": "provider"}  # for `manage.py rotate_secrets`

    class Kind(models.TextChoices):
        LDAP = "ldap"
        OIDC = "oidc"
        SAML = "saml"
        SCIM = "scim"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    # `slug` is part of addresses that the other side stores, so it never changes and no two have the same; `short_name` is what the
    # organization calls it, in its own pages, API and commands.
    slug = models.SlugField(max_length=100, unique=True)
    short_name = models.SlugField(
        max_length=40, default="", blank=True
    )  # empty when saved: the slug
    name = models.CharField(max_length=100)
    config = models.JSONField(default=dict)
    secrets = models.BinaryField(
        default=bytes, editable=False
    )  # JSON of the secret fields, by `portal.core.vault`
    domains = models.JSONField(
        default=list
    )  # e-mail domains it vouches for, lower case; an organization's makes accounts there only
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(null=True)  # it last answered
    trouble = models.CharField(
        max_length=500, blank=True
    )  # what it, or we, said when it did not; empty: all is well
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
    """A person as one provider knows them. Linked by (provider, subject) only, never by an e-mail address."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="identities")
    subject = models.CharField(
        max_length=400
    )  # what the provider never gives to another: entryUUID, objectGUID, sub, NameID
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    login = models.CharField(max_length=254, blank=True)  # the name typed there, for people's eyes
    email = models.CharField(
        max_length=254, blank=True, default="", db_default=""
    )  # what the provider last said
    groups = models.JSONField(default=list)  # as last told, sorted
    seen_at = models.DateTimeField(default=clock.now)  # the provider last named this person
    gone_since = models.DateTimeField(null=True)  # it no longer does

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "subject"], name="identity_once")
        ]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.subject}"


class GroupRule(models.Model):
    """What a provider's group gives: a role in an organization, or in one of its teams. Of the rules that fit a person, the first
    by `position` decides for each organization and each team. `group` "*" is everybody whom the provider vouches for."""

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
