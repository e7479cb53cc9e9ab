"""Organizations, teams, users and their roles."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.tenancy.models import TenantModel


class UserQuerySet(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create a user. Without a password they cannot sign in until they set one by link."""
        user: User = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """A user of the installation, identified by e-mail. Permissions come from memberships.

    Written by the services of `workspaces.organizations`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_active = models.BooleanField(default=True)
    is_operator = models.BooleanField(default=False)
    # A service account, which never signs in (models/access.py)
    is_service = models.BooleanField(default=False)
    # Denormalized by `second_factor.note_factors`, because every request reads it
    has_second_factor = models.BooleanField(default=False)
    # Suspended by an operator, who alone can end it; no directory does
    suspended_at = models.DateTimeField(null=True)
    suspended_why = models.CharField(max_length=200, blank=True, default="", db_default="")
    date_joined = models.DateTimeField(default=clock.now)

    objects: ClassVar[UserQuerySet] = UserQuerySet()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(is_service=True, is_operator=True),
                name="service_never_operates",
            )
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def display_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class Organization(models.Model):
    """A tenant: nothing in it is visible to other organizations. Written by operators."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=clock.now)
    last_job_number = models.PositiveBigIntegerField(default=0)
    last_experiment_number = models.PositiveBigIntegerField(default=0, db_default=0)
    requires_second_factor = models.BooleanField(default=False)
    # Shows owners the first steps on the home page
    has_guide = models.BooleanField(default=True, db_default=True)

    def __str__(self) -> str:
        return self.slug


class Membership(TenantModel):
    """A user's role in an organization: built in (`OrgRole`) or custom.

    Written by the services of `workspaces.organizations`.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=40, default="member")
    # The provider whose group gave the role
    provider = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The name of that group; syncs keep roles without a provider, which were given by hand
    via = models.CharField(max_length=400, blank=True)
    # While set, the membership has no effect: the directory no longer lists the user
    suspended_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"

    @property
    def is_suspended(self) -> bool:
        """Return whether the membership has no effect, because it or the account is suspended."""
        return self.suspended_at is not None or not self.user.is_active


class Team(TenantModel):
    """A team: the unit of work, quota and sharing inside an organization."""

    slug = models.SlugField(max_length=40)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=clock.now)
    # Limits and defaults of its jobs: workspaces.organizations.team_rules
    job_rules = models.JSONField(default=dict)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "slug"], name="team_slug_once")]

    def __str__(self) -> str:
        return self.slug


class Role(TenantModel):
    """A custom role: a named set of permissions for memberships of one kind.

    Stored permissions that this version does not know grant nothing. Written by
    `workspaces.access.services`.
    """

    slug = models.SlugField(max_length=40)
    kind = models.CharField(max_length=8, choices=[("org", "org"), ("team", "team")])
    name = models.CharField(max_length=100)
    permissions = models.JSONField(default=list)  # permission values, sorted
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "slug"], name="role_slug_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.slug}"


class TeamMembership(TenantModel):
    """A user's role in a team: built in (`TeamRole`) or custom.

    Its members are also members of the organization. Written by the services of
    `workspaces.organizations`.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=40, default="member")
    # The provider whose group gave the role
    provider = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The name of that group; syncs keep roles without a provider, which were given by hand
    via = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="team_membership_once")
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.user_id} {self.role}"
