"""Request and response schemas of the API of experiments and runs."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.models import RunStatus
from experiments.services import limits
from portal.api.schema import NUMBER
from portal.core.shapes import PersonShape


def _texts(most: int, **options: object) -> serializers.DictField:
    child = serializers.CharField(
        max_length=most, allow_blank=True, trim_whitespace=False, allow_null=False
    )
    return serializers.DictField(child=child, required=False, **options)  # type: ignore[arg-type]


@extend_schema_field(PersonShape)
class OwnerField(serializers.Field):  # type: ignore[type-arg]
    """A person in an answer."""


@extend_schema_field(NUMBER)
class MetricValueField(serializers.FloatField):
    """A number, or the text NaN, Infinity or -Infinity."""

    def to_internal_value(self, data: object) -> float:
        if isinstance(data, str) and data in ("NaN", "Infinity", "-Infinity"):
            return float(data)
        return super().to_internal_value(data)


class NewExperimentSerializer(serializers.Serializer):  # type: ignore[type-arg]
    team = serializers.CharField(required=False, allow_blank=True, max_length=40)
    name = serializers.CharField(max_length=limits.NAME)
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=limits.DESCRIPTION
    )
    tags = _texts(limits.EXPERIMENT_TAG_VALUE)


class ChangeExperimentSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(required=False, max_length=limits.NAME)
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=limits.DESCRIPTION
    )
    tags = _texts(limits.EXPERIMENT_TAG_VALUE, help_text="Adds tags, or replaces their values.")


class ResultSerializer(serializers.Serializer):  # type: ignore[type-arg]
    metric = serializers.CharField()
    value = serializers.FloatField()


class ExperimentSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()
    team = serializers.CharField()
    owner = OwnerField()
    tags = serializers.DictField(child=serializers.CharField(), required=False)
    runs = serializers.IntegerField()
    running = serializers.IntegerField()
    best = ResultSerializer(
        allow_null=True, help_text="The best last value of the main metric of its runs."
    )
    last_run_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(required=False)
    deleted_at = serializers.DateTimeField(required=False, allow_null=True)
    page = serializers.CharField()


class StartRunSerializer(serializers.Serializer):  # type: ignore[type-arg]
    experiment = serializers.IntegerField(
        required=False, help_text="Its number; default: the team's experiment `Default`."
    )
    team = serializers.CharField(required=False, allow_blank=True, max_length=40)
    name = serializers.CharField(required=False, allow_blank=True, max_length=limits.RUN_NAME)
    started_ms = serializers.IntegerField(
        required=False, min_value=0, max_value=2**53, help_text="Unix milliseconds; default: now."
    )
    parent = serializers.CharField(required=False, max_length=36, help_text="The id of a run.")
    tags = _texts(limits.TAG_VALUE)


class ChangeRunSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(required=False, max_length=limits.RUN_NAME)
    status = serializers.ChoiceField(RunStatus.choices, required=False)
    ended_ms = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**53,
        help_text="Unix milliseconds; default: now, if the status is one of an ended run.",
    )


class LastPointSerializer(serializers.Serializer):  # type: ignore[type-arg]
    value = MetricValueField(help_text="Or the text NaN, Infinity or -Infinity.")
    step = serializers.IntegerField(allow_null=True)
    at = serializers.IntegerField(help_text="Unix milliseconds.")


class RunSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField()
    name = serializers.CharField()
    experiment = serializers.IntegerField()
    team = serializers.CharField()
    owner = OwnerField()
    status = serializers.ChoiceField(RunStatus.choices)
    job = serializers.IntegerField(allow_null=True, help_text="The number of its job.")
    parent = serializers.CharField(allow_null=True)
    started_ms = serializers.IntegerField()
    ended_ms = serializers.IntegerField(allow_null=True)
    params = serializers.DictField(child=serializers.CharField())
    tags = serializers.DictField(child=serializers.CharField())
    metrics = serializers.DictField(
        child=LastPointSerializer(), help_text="The last point of each metric."
    )
    inputs = serializers.ListField(child=serializers.DictField())
    outputs = serializers.ListField(child=serializers.DictField())
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True)
    deleted_at = serializers.DateTimeField(allow_null=True)
    page = serializers.CharField()


class FoundRunsSerializer(serializers.Serializer):  # type: ignore[type-arg]
    items = RunSerializer(many=True)
    next = serializers.CharField(
        allow_null=True, help_text="The `page_token` of the next page; null on the last one."
    )


@extend_schema_field(NUMBER)
class ValueField(serializers.FloatField):
    """A number, or what JSON has no number for."""

    def to_internal_value(self, data: object) -> float:
        if isinstance(data, str) and data in {"NaN", "Infinity", "-Infinity"}:
            return float(data)
        return super().to_internal_value(data)


class MetricSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=limits.KEY, trim_whitespace=False)
    value = ValueField(help_text="Or the text NaN, Infinity or -Infinity.")
    step = serializers.IntegerField(default=0, min_value=-(2**53), max_value=2**53)
    at = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=2**53,
        help_text="Unix milliseconds; default: now. Send it, so that a repeated batch adds nothing.",
    )


class LogSerializer(serializers.Serializer):  # type: ignore[type-arg]
    metrics = MetricSerializer(many=True, required=False)
    params = _texts(limits.PARAM_VALUE, help_text="Each is written once.")
    tags = _texts(limits.TAG_VALUE)


class ActSerializer(serializers.Serializer):  # type: ignore[type-arg]
    do = serializers.ChoiceField(["archive", "unarchive", "delete", "restore", "tag"])
    runs = serializers.ListField(
        child=serializers.CharField(max_length=36), min_length=1, max_length=1000
    )
    tags = _texts(limits.TAG_VALUE, help_text="For `tag`.")


class ChangedSerializer(serializers.Serializer):  # type: ignore[type-arg]
    changed = serializers.IntegerField()


class EventFileSerializer(serializers.Serializer):  # type: ignore[type-arg]
    offset = serializers.IntegerField(help_text="Send the bytes from here on next.")
    points = serializers.IntegerField(help_text="Scalars that this request has stored.")
    skipped = serializers.IntegerField(help_text="Bytes of the file that are damaged.")
