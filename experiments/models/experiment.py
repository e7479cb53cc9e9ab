"""Experiments."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.messages import Message
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel

DEFAULT = "Default"  # the experiment of runs that name none; each team gets one when it is needed


class Experiment(TenantModel):
    """A named group of a team's runs, written by `experiments.services`.

    `number` counts from 1 in each organization and is MLflow's experiment id. A deleted experiment
    is in the trash; its name stays taken until it is deleted permanently.
    """

    number = models.PositiveBigIntegerField()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    tags = models.JSONField(default=dict)  # str -> str
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "number"], name="experiment_number_once"),
            models.UniqueConstraint(fields=["team", "name"], name="experiment_name_once"),
        ]
        indexes = [models.Index(fields=["org", "team", "-number"], name="experiment_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """Return the name for people: the default experiments of teams differ in it."""
        if self.name != DEFAULT or self.team.name == DEFAULT:
            return self.name
        return Message("Default of {team}", context="experiment", team=self.team.name)
