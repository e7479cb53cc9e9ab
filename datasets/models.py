"""Datasets and checkpoints: repositories of files with immutable versions."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower

from portal.core import clock
from portal.core.ids import unguessable
from portal.core.message_fields import MessageField
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel


class RepositoryKind(models.TextChoices):
    DATASET = "dataset"
    CHECKPOINT = "checkpoint"


class Visibility(models.TextChoices):
    """Who sees a repository besides the teams it is shared with."""

    PRIVATE = "private"  # its owner, and administrators
    TEAM = "team"
    ORGANIZATION = "organization"


class Repository(TenantModel):
    """A dataset or a checkpoint of a team, written by `datasets.services`.

    `keep_last` and `keep_days` delete old versions that have neither tag nor branch; 0 keeps all.
    Without any, RetentionDefault counts, unless `own_retention`. Nothing is deleted under
    `legal_hold`. `stored_bytes` is the sum of its contents, held in the storage quota.
    """

    kind = models.CharField(max_length=10, choices=RepositoryKind.choices)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=96)
    description = models.CharField(max_length=500, blank=True)
    visibility = models.CharField(
        max_length=12, choices=Visibility.choices, default=Visibility.TEAM
    )
    default_branch = models.CharField(max_length=200, default="main")
    next_number = models.PositiveIntegerField(default=1)  # of the next version
    keep_last = models.PositiveIntegerField(default=0)
    keep_days = models.PositiveIntegerField(default=0)
    own_retention = models.BooleanField(default=False)
    legal_hold = models.CharField(max_length=500, blank=True)  # the reason; "" for none
    stored_bytes = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True)  # in the trash

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                "org",
                "kind",
                Lower("name"),
                condition=models.Q(deleted_at=None),
                name="repository_name_once",
            )
        ]
        indexes = [models.Index(fields=["org", "kind", "team"], name="repository_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def has_own_rules(self) -> bool:
        """Return whether the default retention of the organization does not count."""
        return self.own_retention or bool(self.keep_last or self.keep_days)


class FormerName(TenantModel):
    """A name that a repository had, written when it is renamed. Clients of the Hub may use it."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=RepositoryKind.choices)
    name = models.CharField(max_length=96)  # in lower case

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "kind", "name"], name="former_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class RetentionDefault(TenantModel):
    """Rules of the organization for repositories of a kind that have none of their own."""

    kind = models.CharField(max_length=10, choices=RepositoryKind.choices)
    keep_last = models.PositiveIntegerField(default=0)
    keep_days = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "kind"], name="retention_default_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind}s of {self.org_id}"


class Share(TenantModel):
    """Another team that may read a repository, or also write to it."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="shares")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    can_write = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["repository", "team"], name="share_once")]

    def __str__(self) -> str:
        return f"{self.repository_id} with {self.team_id}"


class Version(TenantModel):
    """An immutable tree of files. `blocks` is read by `datasets.trees`.

    `commit` identifies it for the Hub's clients. `job_id` is the job that wrote it.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    commit = models.CharField(max_length=40)  # hexadecimal
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    message = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    job_id = models.UUIDField(null=True, db_index=True)
    blocks = models.JSONField(default=list)  # [[digest, first path, files, bytes], …]
    files = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)  # files, against the parent
    changed = models.BigIntegerField(default=0)
    removed = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["repository", "number"], name="version_number_once"),
            models.UniqueConstraint(fields=["repository", "commit"], name="version_commit_once"),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id} version {self.number}"


class Ref(TenantModel):
    """A branch, which moves with each commit, or a tag, which stays at its version."""

    class Kind(models.TextChoices):
        BRANCH = "branch"
        TAG = "tag"

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="refs")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    name = models.CharField(max_length=200)
    version = models.ForeignKey(
        Version, null=True, on_delete=models.PROTECT, related_name="refs"
    )  # null: a branch without versions
    message = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["repository", "name"], name="ref_once")]

    def __str__(self) -> str:
        return self.name


class Block(TenantModel):
    """A part of trees: sorted entries, as `datasets.trees` encodes them. Shared by versions."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["repository", "digest"], name="block_once")]

    def __str__(self) -> str:
        return self.digest


class Content(TenantModel):
    """Bytes that a repository has; `portal.blobs.files` stores them under the SHA-256.

    `is_used` is false until a version names them.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.BigIntegerField()  # bytes
    is_used = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["repository", "sha256"], name="content_once")
        ]

    def __str__(self) -> str:
        return self.sha256


class Upload(TenantModel):
    """A file that is being received in pieces; `portal.blobs.files` has what came so far."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=1000, blank=True)  # as the client names it, for people
    size = models.BigIntegerField()  # bytes, announced
    announced = models.CharField(max_length=64, blank=True)  # SHA-256 that it must have
    sha256 = models.CharField(max_length=64, blank=True)  # once complete
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["updated_at"], name="upload_updated")]

    def __str__(self) -> str:
        return f"{self.path} ({self.size} bytes)"


class Xorb(TenantModel):
    """Chunks that a client sent by Xet. See `datasets.xet`.

    `chunks` and `places` are read by `datasets.xet.store`: hash and size of each chunk, and where
    files have them.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    hash = models.CharField(max_length=64)
    chunks = models.BinaryField()
    places = models.BinaryField(default=bytes)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["repository", "hash"], name="xorb_once")]

    def __str__(self) -> str:
        return self.hash


class XorbChunk(TenantModel):
    """A chunk that clients ask for before they send a file, and the xorb that has it."""

    xorb = models.ForeignKey(Xorb, on_delete=models.CASCADE, related_name="+")
    hash = models.CharField(max_length=64, db_index=True)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["xorb", "hash"], name="xorb_chunk_once")]

    def __str__(self) -> str:
        return self.hash


class XorbFile(TenantModel):
    """A large file that has chunks of a xorb."""

    xorb = models.ForeignKey(Xorb, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64, db_index=True)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["xorb", "sha256"], name="xorb_file_once")]

    def __str__(self) -> str:
        return self.sha256


class SharedFolder(TenantModel):
    """A workspace of a team: a folder that people and jobs read and write, without versions.

    Pages and the API say "workspace"; the Django app `workspaces` is about tenancy, so the code
    does not. `portal.blobs.folders` has the files; `directory` is the random name of their folder,
    which only jobs that mount it may know. `used_bytes` are held in the storage quota of
    owner, team and organization; `datasets.folders.usage` counts what jobs have written.
    """

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=96)
    description = models.CharField(max_length=500, blank=True)
    visibility = models.CharField(
        max_length=12, choices=Visibility.choices, default=Visibility.TEAM
    )
    quota = models.BigIntegerField(null=True)  # bytes; None: only the quotas above it
    used_bytes = models.BigIntegerField(default=0)
    files = models.BigIntegerField(default=0)  # when they were last counted
    directory = models.CharField(max_length=32, default=unguessable)  # "": as the id
    counted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True)  # in the trash

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                "org",
                Lower("name"),
                condition=models.Q(deleted_at=None),
                name="shared_folder_name_once",
            )
        ]
        indexes = [models.Index(fields=["org", "team"], name="shared_folder_team")]

    def __str__(self) -> str:
        return self.name


class FolderInvitation(TenantModel):
    """A person or a team that may read a shared folder, or also write to it."""

    folder = models.ForeignKey(SharedFolder, on_delete=models.CASCADE, related_name="invitations")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    can_write = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["folder", "team"], name="folder_team_once"),
            models.UniqueConstraint(fields=["folder", "user"], name="folder_user_once"),
            models.CheckConstraint(
                condition=models.Q(team=None, user__isnull=False)
                | models.Q(team__isnull=False, user=None),
                name="folder_invites_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.folder_id} for {self.team_id or self.user_id}"


class FolderUpload(TenantModel):
    """A file for a shared folder that is being received in pieces."""

    folder = models.ForeignKey(SharedFolder, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=4096)
    size = models.BigIntegerField()  # bytes, announced
    is_complete = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["updated_at"], name="folder_upload_updated")]

    def __str__(self) -> str:
        return f"{self.path} ({self.size} bytes)"


class FolderLock(TenantModel):
    """A lock that a WebDAV client has taken; `data` is read by `datasets.folders.dav.locks`."""

    folder = models.ForeignKey(SharedFolder, on_delete=models.CASCADE, related_name="+")
    token = models.CharField(max_length=128, unique=True)  # WsgiDAV's have 82
    path = models.CharField(max_length=5000)  # as the client names it, below /dav
    data = models.JSONField()
    expires_at = models.DateTimeField()

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["expires_at"], name="folder_lock_expires")]

    def __str__(self) -> str:
        return self.token


class Import(TenantModel):
    """Files that the portal fetches from elsewhere and commits. See `datasets.imports`.

    `source` are addresses, one a line; `secrets` are references such as `team/NAME` by what they
    are for. Whoever holds the lease `import-ID` works on it. A failed or canceled one can be
    resumed: what was stored is not fetched again.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELED = "canceled"

    ACTIVE = (State.QUEUED, State.RUNNING)

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    source = models.TextField()
    options = models.JSONField(default=dict)  # endpoint and region
    secrets = models.JSONField(default=dict)
    branch = models.CharField(max_length=200)
    folder = models.CharField(max_length=1000, blank=True)  # where the files go
    message = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.QUEUED)
    error = MessageField(blank=True)  # why it failed, or why it is tried again
    attempts = models.PositiveIntegerField(default=0)  # without progress
    due_at = models.DateTimeField(default=clock.now)  # of the next attempt
    files = models.BigIntegerField(null=True)  # in all, once the source was listed
    bytes = models.BigIntegerField(null=True)  # in all, if the source tells
    files_done = models.BigIntegerField(default=0)
    bytes_done = models.BigIntegerField(default=0)
    version = models.ForeignKey(Version, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="import_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} ({self.state})"


class ImportedFile(TenantModel):
    """A file of an import whose bytes the repository has, until the import has succeeded.

    `mark` tells whether the file at the source is still the same.
    """

    imported = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=1000)
    mark = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["imported", "path"], name="imported_file_once")
        ]

    def __str__(self) -> str:
        return self.path
