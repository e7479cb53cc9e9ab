"""Bodies of requests and responses, for validation and OpenAPI."""

from __future__ import annotations

from rest_framework import serializers as s

from datasets.models import Visibility
from datasets.names import LONGEST_MESSAGE
from datasets.services.repositories import LONGEST_DESCRIPTION, MOST_KEPT

MOST_DIGESTS = 10_000  # in one question


class HeadSerializer(s.Serializer):  # type: ignore[type-arg]
    version = s.IntegerField()
    commit = s.CharField()


class ShareSerializer(s.Serializer):  # type: ignore[type-arg]
    team = s.CharField()
    can_write = s.BooleanField()


class RepositorySerializer(s.Serializer):  # type: ignore[type-arg]
    id = s.UUIDField()
    kind = s.CharField(help_text="dataset or checkpoint")
    name = s.CharField()
    team = s.CharField()
    owner = s.DictField()
    description = s.CharField()
    visibility = s.CharField(help_text="private, team or organization")
    default_branch = s.CharField()
    head = HeadSerializer(allow_null=True, help_text="The newest version of the default branch.")
    files = s.IntegerField(help_text="Of the head.")
    bytes = s.IntegerField(help_text="Of the head.")
    versions = s.IntegerField()
    stored_bytes = s.IntegerField(help_text="Of all versions; equal files count once.")
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()
    deleted_at = s.DateTimeField(allow_null=True)


class RepositoryDetailSerializer(RepositorySerializer):
    keep_last = s.IntegerField()
    keep_days = s.IntegerField()
    own_retention = s.BooleanField(help_text="False: the rules are those of the organization.")
    legal_hold = s.CharField(help_text="The reason; empty for none.")
    shares = ShareSerializer(many=True)
    may_write = s.BooleanField()
    may_manage = s.BooleanField()


class NewRepositorySerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField(max_length=96)
    team = s.CharField(required=False, default="", allow_blank=True)
    description = s.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_DESCRIPTION
    )
    visibility = s.CharField(required=False, default=Visibility.TEAM.value)


class RepositoryChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField(max_length=96, required=False)
    description = s.CharField(required=False, allow_blank=True, max_length=LONGEST_DESCRIPTION)
    visibility = s.CharField(required=False, help_text="private, team or organization")
    default_branch = s.CharField(required=False, max_length=200)
    keep_last = s.IntegerField(required=False, min_value=0, max_value=MOST_KEPT)
    keep_days = s.IntegerField(required=False, min_value=0, max_value=MOST_KEPT)
    own_retention = s.BooleanField(
        required=False, help_text="False: follow the organization's default. Rules make it true."
    )
    legal_hold = s.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_DESCRIPTION,
        help_text="The reason; empty ends it.",
    )
    seen_at = s.DateTimeField(
        required=False, help_text="`updated_at` as you read it: refused if it was changed since."
    )


class ShareChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    can_write = s.BooleanField(required=False, default=False)


class RepositoryVersionSerializer(s.Serializer):  # type: ignore[type-arg]
    id = s.UUIDField()
    version = s.IntegerField()
    commit = s.CharField(help_text="40 hexadecimal digits.")
    parent = s.CharField(allow_null=True, help_text="Commit that it was made from.")
    message = s.CharField()
    description = s.CharField()
    author = s.DictField()
    job_id = s.UUIDField(allow_null=True)
    files = s.IntegerField()
    bytes = s.IntegerField()
    added = s.IntegerField(help_text="Files, against the parent.")
    changed = s.IntegerField()
    removed = s.IntegerField()
    branches = s.ListField(child=s.CharField())
    tags = s.ListField(child=s.CharField())
    created_at = s.DateTimeField()


class ChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    op = s.ChoiceField(choices=["add", "delete", "copy"])
    path = s.CharField()
    sha256 = s.CharField(required=False, help_text="add: of a file that was uploaded.")
    source = s.CharField(required=False, help_text="copy: a file or folder.")
    revision = s.CharField(required=False, help_text="copy: of the source; default the parent.")
    is_folder = s.BooleanField(required=False, help_text="delete: may also be missing.")


class CommitSerializer(s.Serializer):  # type: ignore[type-arg]
    message = s.CharField(required=False, allow_blank=True, max_length=LONGEST_MESSAGE)
    description = s.CharField(required=False, allow_blank=True)
    branch = s.CharField(required=False, allow_blank=True, help_text="Default: the default branch.")
    parent = s.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Commit that the changes were made to, empty for none: refused if the branch has "
        "moved since. Without it, changes apply to the newest version.",
    )
    changes = ChangeSerializer(many=True)


class EntrySerializer(s.Serializer):  # type: ignore[type-arg]
    type = s.CharField(help_text="file or folder")
    path = s.CharField()
    bytes = s.IntegerField(allow_null=True)
    sha256 = s.CharField(allow_null=True)


class TreeSerializer(s.Serializer):  # type: ignore[type-arg]
    version = s.IntegerField()
    commit = s.CharField()
    path = s.CharField()
    items = EntrySerializer(many=True)
    next = s.CharField(allow_null=True, help_text="`after` of the next page.")


class SideSerializer(s.Serializer):  # type: ignore[type-arg]
    bytes = s.IntegerField()
    sha256 = s.CharField()


class FileDifferenceSerializer(s.Serializer):  # type: ignore[type-arg]
    path = s.CharField()
    change = s.CharField(help_text="added, changed or removed")
    before = SideSerializer(allow_null=True)
    after = SideSerializer(allow_null=True)


class DiffSerializer(s.Serializer):  # type: ignore[type-arg]
    before = s.CharField(allow_null=True, help_text="Commit.")
    after = s.CharField(help_text="Commit.")
    items = FileDifferenceSerializer(many=True)
    next = s.CharField(allow_null=True, help_text="`after` of the next page.")


class RefSerializer(s.Serializer):  # type: ignore[type-arg]
    kind = s.CharField(help_text="branch or tag")
    name = s.CharField()
    version = s.IntegerField(allow_null=True)
    commit = s.CharField(allow_null=True)
    message = s.CharField()
    created_at = s.DateTimeField()


class TagSerializer(s.Serializer):  # type: ignore[type-arg]
    revision = s.CharField(required=False, default="", allow_blank=True)
    message = s.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_MESSAGE)
    may_move = s.BooleanField(required=False, default=False)


class NewBranchSerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField(max_length=200)
    revision = s.CharField(required=False, default="", allow_blank=True)


class RetentionRulesSerializer(s.Serializer):  # type: ignore[type-arg]
    keep_last = s.IntegerField(required=False, min_value=0, max_value=MOST_KEPT)
    keep_days = s.IntegerField(required=False, min_value=0, max_value=MOST_KEPT)


class PlanSerializer(s.Serializer):  # type: ignore[type-arg]
    keep_last = s.IntegerField()
    keep_days = s.IntegerField()
    versions = s.ListField(child=s.IntegerField(), help_text="Versions that go.")
    bytes = s.IntegerField(help_text="What that frees.")


class PlannedRepositorySerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField()
    team = s.CharField()
    versions = s.IntegerField(help_text="Number of versions that go.")
    bytes = s.IntegerField(help_text="What that frees.")


class DefaultRetentionSerializer(s.Serializer):  # type: ignore[type-arg]
    keep_last = s.IntegerField()
    keep_days = s.IntegerField()
    versions = s.IntegerField()
    bytes = s.IntegerField()
    repositories = PlannedRepositorySerializer(many=True)
    is_cut = s.BooleanField(help_text="Versions of more repositories go as well.")


class FreedSerializer(s.Serializer):  # type: ignore[type-arg]
    versions = s.ListField(child=s.IntegerField())
    bytes = s.IntegerField()


class DigestsSerializer(s.Serializer):  # type: ignore[type-arg]
    sha256 = s.ListField(child=s.RegexField(r"^[0-9a-f]{64}\Z"), max_length=MOST_DIGESTS)


class SmallFileSerializer(s.Serializer):  # type: ignore[type-arg]
    sha256 = s.RegexField(r"^[0-9a-f]{64}\Z")
    bytes = s.IntegerField(min_value=0, max_value=1 << 20)


class SmallFilesSerializer(s.Serializer):  # type: ignore[type-arg]
    files = SmallFileSerializer(many=True, allow_empty=False, max_length=1_000)


class PathsSerializer(s.Serializer):  # type: ignore[type-arg]
    paths = s.ListField(
        child=s.CharField(trim_whitespace=False, max_length=4096),
        allow_empty=False,
        max_length=1_000,
    )


class ContentSerializer(s.Serializer):  # type: ignore[type-arg]
    sha256 = s.CharField()
    bytes = s.IntegerField()


class SpaceSerializer(s.Serializer):  # type: ignore[type-arg]
    """Bytes, but for the counts."""

    stored = s.IntegerField()
    current = s.IntegerField(help_text="In versions with a branch or tag.")
    old = s.IntegerField(help_text="Only in other versions; retention frees them.")
    unnamed = s.IntegerField(help_text="In files that no version names.")
    unnamed_files = s.IntegerField()
    uploads = s.IntegerField(help_text="Number of files still being received.")
    uploads_bytes = s.IntegerField()
    versions = s.IntegerField()
    unreferenced = s.ListField(
        child=s.IntegerField(),
        help_text="Versions without a branch, tag, job or model.",
    )


class FreedBytesSerializer(s.Serializer):  # type: ignore[type-arg]
    bytes = s.IntegerField()


class NewDatasetImportSerializer(s.Serializer):  # type: ignore[type-arg]
    source = s.ListField(
        child=s.CharField(max_length=4000),
        min_length=1,
        max_length=1000,
        help_text="s3://BUCKET/PREFIX, https://…, hf://datasets/OWNER/NAME@REVISION or "
        "cluster://CLUSTER/DIRECTORY; of https several.",
    )
    endpoint = s.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Of S3 or the Hub; default: AWS and https://huggingface.co.",
    )
    region = s.CharField(required=False, default="", allow_blank=True, help_text="Of S3.")
    secrets = s.DictField(
        child=s.CharField(),
        required=False,
        default=dict,
        help_text="References such as `team/NAME`. S3: access_key_id, secret_access_key and "
        "session_token; others: token.",
    )
    branch = s.CharField(required=False, default="", allow_blank=True, max_length=200)
    folder = s.CharField(required=False, default="", allow_blank=True, max_length=900)
    message = s.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_MESSAGE)


class DatasetImportSerializer(s.Serializer):  # type: ignore[type-arg]
    id = s.UUIDField()
    source = s.ListField(child=s.CharField(), help_text="Without queries.")
    kind = s.CharField(help_text="s3, http, hub or directory")
    options = s.DictField()
    secrets = s.DictField(help_text="References.")
    branch = s.CharField()
    folder = s.CharField()
    message = s.CharField()
    state = s.CharField(help_text="queued, running, succeeded, failed or canceled")
    error = s.CharField(help_text="Why it failed, or why it is tried again.")
    files = s.IntegerField(allow_null=True, help_text="In all, once the source was listed.")
    bytes = s.IntegerField(allow_null=True, help_text="In all, if the source tells.")
    files_done = s.IntegerField()
    bytes_done = s.IntegerField()
    version = s.IntegerField(allow_null=True)
    by = s.DictField()
    due_at = s.DateTimeField(help_text="Of the next attempt.")
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()
    ended_at = s.DateTimeField(allow_null=True)
