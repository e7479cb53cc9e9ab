"""Organizations, teams and the people in them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.tenancy.models import TenantModel


class UserQuerySet(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A person; without a password they cannot sign in until they set one by link."""
        user: User = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """A person, known by e-mail, on the whole installation; what they may do comes from memberships.
    Written by its services."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_active = models.BooleanField(default=True)
    is_operator = models.BooleanField(default=False)
    is_service = models.BooleanField(
        default=False
    )  # no person: a service account, which never signs in (models/access.py)
    has_second_factor = models.BooleanField(
        default=False
    )  # kept by `second_factor.note_factors`: doors read it with every request
    suspended_at = models.DateTimeField(
        null=True
    )  # by an operator, who alone ends it: no directory brings them back
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
    """The wall: nothing of one organization is visible in another. Written by operators."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=clock.now)
    last_job_number = models.PositiveBigIntegerField(default=0)
    requires_second_factor = models.BooleanField(default=False)
    has_guide = models.BooleanField(
        default=True, db_default=True
    )  # owners are shown the first steps on the home page

    def __str__(self) -> str:
        return self.slug


class Membership(TenantModel):
    """A person's role in an organization: a built-in one (`OrgRole`) or one of the organization's own making.
    Written by its services."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=40, default="member")
    provider = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )  # whose group gave it
    via = models.CharField(
        max_length=400, blank=True
    )  # that group; no provider: given by hand, and no directory touches it
    suspended_at = models.DateTimeField(
        null=True
    )  # counts for nothing while set: their directory no longer names them
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"

    @property
    def is_suspended(self) -> bool:
        """Whether it counts for nothing: itself suspended, or the account of its person."""
        return self.suspended_at is not None or not self.user.is_active


class Team(TenantModel):
    """The unit of work, quota and sharing inside an organization."""

    slug = models.SlugField(max_length=40)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=clock.now)
    job_rules = models.JSONField(default=dict)  # what its jobs may be: workspaces.team_rules

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "slug"], name="team_slug_once")]

    def __str__(self) -> str:
        return self.slug


class Role(TenantModel):
    """A role of the organization's own making: a set of permissions under a name, for memberships of one kind. What is stored and not
    known (any more) grants nothing. Written by `workspaces.access.services`."""

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
    """A person's role in a team, built-in (`TeamRole`) or of the organization's own making; they are in its organization too.
    Written by its services."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=40, default="member")
    provider = models.ForeignKey(
        "workspaces.Provider", null=True, on_delete=models.SET_NULL, related_name="+"
    )  # whose group gave it
    via = models.CharField(
        max_length=400, blank=True
    )  # that group; no provider: given by hand, and no directory touches it
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="team_membership_once")
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.user_id} {self.role}"
