"""Bodies of requests and responses, for validation and OpenAPI."""

from __future__ import annotations

from rest_framework import serializers as s

from registry.names import LONGEST_CARD, LONGEST_NAME, STAGES


class TagsField(s.DictField):
    """Tags; null deletes one."""

    child = s.CharField(allow_null=True, allow_blank=True, trim_whitespace=False)


class ModelSerializer(s.Serializer):  # type: ignore[type-arg]
    id = s.UUIDField()
    name = s.CharField()
    team = s.CharField()
    owner = s.DictField()
    tags = s.DictField(child=s.CharField())
    aliases = s.DictField(child=s.IntegerField())
    requires_approval = s.BooleanField()
    summary = s.CharField(help_text="The first line of the model card.")
    versions = s.IntegerField()
    latest = s.IntegerField(allow_null=True)
    bytes = s.IntegerField(help_text="Of the files of all versions.")
    requested = s.IntegerField(help_text="Versions that wait for approval.")
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()
    deleted_at = s.DateTimeField(allow_null=True)


class ModelDetailSerializer(ModelSerializer):
    description = s.CharField(help_text="The model card, Markdown.")


class NewModelSerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField(max_length=LONGEST_NAME)
    team = s.CharField(required=False, default="", allow_blank=True)
    description = s.CharField(
        required=False, default="", allow_blank=True, trim_whitespace=False, max_length=LONGEST_CARD
    )
    tags = TagsField(required=False)
    requires_approval = s.BooleanField(required=False, default=False)


class ModelChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    name = s.CharField(max_length=LONGEST_NAME, required=False)
    description = s.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=LONGEST_CARD
    )
    tags = TagsField(required=False)
    requires_approval = s.BooleanField(required=False)
    seen_at = s.DateTimeField(
        required=False, help_text="`updated_at` as you read it: refused if it was changed since."
    )


class VersionSerializer(s.Serializer):  # type: ignore[type-arg]
    id = s.UUIDField()
    version = s.IntegerField()
    name = s.CharField()
    team = s.CharField()
    owner = s.DictField()
    status = s.CharField(help_text="PENDING_REGISTRATION or READY.")
    stage = s.CharField()
    aliases = s.ListField(child=s.CharField())
    description = s.CharField()
    tags = s.DictField(child=s.CharField())
    source = s.CharField()
    run_id = s.CharField(allow_null=True)
    logged_model_id = s.CharField(allow_null=True)
    metrics = s.DictField(child=s.FloatField())
    files = s.IntegerField()
    bytes = s.IntegerField()
    formats = s.ListField(child=s.CharField())
    unsafe = s.ListField(
        child=s.CharField(), help_text="Files that can run code when they are loaded."
    )
    unchecked = s.ListField(
        child=s.CharField(), help_text="Files of unknown formats, which may do so as well."
    )
    approval = s.DictField()
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()


class VersionDetailSerializer(VersionSerializer):
    signature = s.JSONField(help_text="Or null.")
    inspection = s.JSONField()
    acknowledged_by = s.CharField()
    promoted_from = s.DictField(allow_null=True)
    checks = s.ListField(child=s.DictField(), help_text="Conditions of approval.")


class NewVersionSerializer(s.Serializer):  # type: ignore[type-arg]
    source = s.CharField(
        max_length=1000,
        required=False,
        default="",
        allow_blank=True,
        help_text="Such as runs:/RUN_ID/model. Without it, the version is an upload.",
    )
    description = s.CharField(
        required=False, default="", allow_blank=True, trim_whitespace=False, max_length=LONGEST_CARD
    )
    tags = TagsField(required=False)


class VersionChangeSerializer(s.Serializer):  # type: ignore[type-arg]
    description = s.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=LONGEST_CARD
    )
    tags = TagsField(required=False)
    seen_at = s.DateTimeField(required=False)


class AliasSerializer(s.Serializer):  # type: ignore[type-arg]
    version = s.IntegerField(min_value=1)
    if_version = s.IntegerField(
        min_value=0,
        required=False,
        allow_null=True,
        help_text="Move it only if it points there; 0: only if it does not exist.",
    )


class StageSerializer(s.Serializer):  # type: ignore[type-arg]
    stage = s.CharField(help_text=", ".join(STAGES))
    archive_existing_versions = s.BooleanField(required=False, default=False)


class ApprovalSerializer(s.Serializer):  # type: ignore[type-arg]
    do = s.ChoiceField(choices=["acknowledge", "request", "withdraw", "approve", "reject"])
    note = s.CharField(required=False, default="", allow_blank=True, max_length=5000)


class PromotionSerializer(s.Serializer):  # type: ignore[type-arg]
    team = s.CharField()
    name = s.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NAME)


class FileSerializer(s.Serializer):  # type: ignore[type-arg]
    path = s.CharField()
    bytes = s.IntegerField()
    sha256 = s.CharField()
    facts = s.JSONField(help_text="Or null.")
