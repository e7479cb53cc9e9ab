"""Bodies of requests, for validation and OpenAPI."""

from __future__ import annotations

from rest_framework import serializers as s

from datasets.models import Visibility
from datasets.names import LONGEST_MESSAGE
from datasets.services.repositories import LONGEST_DESCRIPTION, MOST_KEPT

MOST_DIGESTS = 10_000  # in one question


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
