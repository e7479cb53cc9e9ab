"""Interactive sessions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from datasets.models import SharedFolder
from jobs.models import Job
from portal.core import clock
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel


class InteractiveSession(TenantModel):
    """A web app that a person runs on a cluster, written by `sessions.services`.

    It runs as a job; each time it is started again, as a new one (docs/design/sessions.md). Its state is
    that of its last job.
    """

    SEALED: ClassVar[dict[str, str]] = {"secret": "apps of sessions"}

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveBigIntegerField()  # that of its first job
    name = models.CharField(max_length=100)
    template = models.CharField(max_length=100)  # `sessions.templates`
    template_version = models.PositiveIntegerField(default=1)
    # What was chosen in the form (`sessions.choices.SessionChoices`)
    choices = models.JSONField(default=dict)
    # Sealed; what the gateway sends to the app, and the app asks for
    secret = models.BinaryField()
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")  # the last one
    # Who else may open it: `read` or `write`, by the id of a person, or for `team` (`sessions.sharing`)
    shares = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "number"], name="session_number_once")
        ]
        indexes = [
            models.Index(fields=["org", "team", "-number"], name="session_team"),
            models.Index(fields=["org", "owner", "-number"], name="session_owner"),
        ]

    def __str__(self) -> str:
        return f"#{self.number} {self.name}"


class Home(TenantModel):
    """The home folder of a person in a team: a workspace that their sessions mount as HOME.

    Written by `sessions.homes` at the first session.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    folder = models.ForeignKey(SharedFolder, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="home_once"),
        ]

    def __str__(self) -> str:
        return str(self.folder)
