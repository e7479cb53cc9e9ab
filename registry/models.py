"""Registered models and their versions."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel


class RegisteredModel(TenantModel):
    """A named model of a team, written by `registry.services`.

    `next_version` is the number of the next version; numbers are never reused. With
    `requires_approval`, aliases and the stage Production take approved versions only.
    """

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=250)
    description = models.TextField(blank=True)  # the model card, Markdown
    tags = models.JSONField(default=dict)  # str -> str
    aliases = models.JSONField(default=dict)  # alias -> version
    next_version = models.PositiveIntegerField(default=1)
    requires_approval = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True)  # in the trash

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(deleted_at=None),
                name="model_name_once",
            )
        ]
        indexes = [models.Index(fields=["org", "team", "name"], name="model_team")]

    def __str__(self) -> str:
        return self.name


class ModelVersion(TenantModel):
    """One version of a registered model, written by `registry.services`.

    Its files never change once its status is READY; an upload is PENDING_REGISTRATION. `run_id`,
    `logged_model_id` and `checkpoint_id` (a version of a checkpoint) say where it comes from;
    `promoted_from` is the version of another team that it was promoted from.
    """

    class Approval(models.TextChoices):
        NONE = "none"
        REQUESTED = "requested"
        APPROVED = "approved"
        REJECTED = "rejected"

    model = models.ForeignKey(RegisteredModel, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # One of MLflow's: PENDING_REGISTRATION, READY or FAILED_REGISTRATION
    status = models.CharField(max_length=30, default="READY")
    status_message = models.CharField(max_length=500, blank=True)
    stage = models.CharField(max_length=20, default="None")  # for MLflow 2
    source = models.CharField(max_length=1000, blank=True)  # the URI that the client gave
    stored_bytes = models.BigIntegerField(default=0)  # held in the storage quota: uploads only
    run_id = models.UUIDField(null=True, db_index=True)
    logged_model_id = models.UUIDField(null=True, db_index=True)
    checkpoint_id = models.UUIDField(null=True, db_index=True)
    promoted_from = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    description = models.TextField(blank=True)
    tags = models.JSONField(default=dict)  # str -> str
    signature = models.JSONField(null=True)  # {"inputs": …, "outputs": …, "params": …}
    metrics = models.JSONField(default=dict)  # name -> number, when it was registered
    inspection = models.JSONField(null=True)  # what `portal.formats` found in the files
    # E-mail of who accepted that its pickles run code when they are loaded
    acknowledged_by = models.CharField(max_length=254, blank=True)
    approval = models.CharField(max_length=10, choices=Approval.choices, default=Approval.NONE)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["model", "version"], name="model_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.model_id} v{self.version}"


class ModelFile(TenantModel):
    """A file of a version; the bytes are in `portal.blobs.files` under `sha256`."""

    version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=1000)
    size = models.BigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64, db_index=True)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["version", "path"], name="model_file_once")]

    def __str__(self) -> str:
        return self.path
