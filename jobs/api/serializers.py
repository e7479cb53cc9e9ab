"""Bodies of requests of the jobs API."""

from __future__ import annotations

from rest_framework import serializers


class SpecTextSerializer(serializers.Serializer):  # type: ignore[type-arg]
    yaml = serializers.CharField(required=False, trim_whitespace=False, max_length=1 << 18)
    spec = serializers.DictField(required=False)


class RerunSerializer(SpecTextSerializer):
    overrides = serializers.DictField(
        required=False,
        help_text='Fields to change in the spec of the job, such as {"envs.LR": "3e-4"}; null '
        "removes a field.",
    )


class NewJobSerializer(SpecTextSerializer):
    team = serializers.CharField(required=False, allow_blank=True, max_length=40)


class DraftSerializer(NewJobSerializer):
    settled = serializers.BooleanField(
        required=False, help_text="The input is complete, so the image's registry may be queried."
    )
    parent = serializers.IntegerField(
        required=False, help_text="The job that is run again; `changes` compares with its spec."
    )


class WhySerializer(serializers.Serializer):  # type: ignore[type-arg]
    why = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class ChangeJobSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(required=False, max_length=100)
    priority = serializers.ChoiceField(["low", "normal", "high", "urgent"], required=False)
    labels = serializers.DictField(
        child=serializers.CharField(max_length=255, allow_blank=True), required=False
    )


class ExecSerializer(serializers.Serializer):  # type: ignore[type-arg]
    argv = serializers.ListField(
        child=serializers.CharField(max_length=32768, trim_whitespace=False),
        min_length=1,
        max_length=256,
    )
    timeout = serializers.FloatField(default=30, min_value=0.1, max_value=300)
    index = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class PointSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=250)
    value = serializers.FloatField()
    step = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=-(2**53), max_value=2**53
    )
    at = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=2**53,
        help_text="Unix milliseconds; default: now.",
    )


class PointsSerializer(serializers.Serializer):  # type: ignore[type-arg]
    points = PointSerializer(many=True, max_length=1000)


class OutputTaskSerializer(serializers.Serializer):  # type: ignore[type-arg]
    index = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class OutputReportSerializer(OutputTaskSerializer):
    message = serializers.CharField(default="", allow_blank=True, max_length=2000)
    is_end = serializers.BooleanField(default=False)


class SavedFileSerializer(serializers.Serializer):  # type: ignore[type-arg]
    path = serializers.CharField(max_length=4096, trim_whitespace=False)
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z")


class SavedFilesSerializer(OutputTaskSerializer):
    files = SavedFileSerializer(many=True, max_length=100_000)
    left_out = serializers.ListField(
        child=serializers.CharField(max_length=4096, trim_whitespace=False),
        default=list,
        help_text="Paths that are being written; they keep their last content.",
    )
    cut = SavedFileSerializer(
        many=True,
        max_length=100_000,
        default=list,
        help_text="Files that a killed job was writing. They become a version of their own.",
    )
    note = serializers.CharField(
        default="", allow_blank=True, max_length=2000, help_text="What is not saved, and why."
    )
    is_end = serializers.BooleanField(default=False, help_text="Nothing will follow.")
