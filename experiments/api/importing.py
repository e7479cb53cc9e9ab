"""REST: import of runs of another tracking server."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from experiments.models import RunStatus
from experiments.selectors import find_experiment, last_metrics
from experiments.services import limits
from experiments.services.importing import ForeignRun, import_run
from workspaces.api.base import OrgView
from workspaces.api.views import read

_MOST_MS = 2**53


class ForeignRunSerializer(serializers.Serializer):  # type: ignore[type-arg]
    experiment = serializers.IntegerField(help_text="The number of the experiment here.")
    server = serializers.CharField(max_length=500, help_text="The address of the other server.")
    run_id = serializers.CharField(max_length=100, help_text="The id of the run there.")
    name = serializers.CharField(required=False, allow_blank=True, max_length=limits.RUN_NAME)
    status = serializers.ChoiceField(RunStatus.choices)
    started_ms = serializers.IntegerField(min_value=0, max_value=_MOST_MS)
    ended_ms = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=_MOST_MS
    )
    params = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False
    )
    tags = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False
    )


class ImportedRunSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField()
    is_new = serializers.BooleanField()
    metrics = serializers.DictField(
        child=serializers.ListField(), help_text="[value, step, Unix ms] of the last point of each."
    )


class ImportView(OrgView):
    permissions = {"POST": None}

    @extend_schema(
        request=ForeignRunSerializer,
        responses={200: ImportedRunSerializer, 201: ImportedRunSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create the run of another server here, or add what is new in it. Idempotent.

        Log its metrics and put its files afterwards: they are idempotent as well.
        """
        body = read(ForeignRunSerializer, request)
        experiment = find_experiment(self.actor, body.pop("experiment"))
        row, is_new = import_run(actor=self.actor, experiment=experiment, run=ForeignRun(**body))
        last = last_metrics([row])[row.id]
        metrics = {n: [repr(float(p.value)), p.step, p.at_ms] for n, p in last.items()}
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response({"id": row.id.hex, "is_new": is_new, "metrics": metrics}, status=code)
