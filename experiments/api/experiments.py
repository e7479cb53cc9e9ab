"""REST: experiments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from experiments import services
from experiments.api import serializers as s
from experiments.lists import EXPERIMENTS, runs_of
from experiments.models import Experiment, Run
from experiments.run_keys import keys_of, with_older
from experiments.selectors import find_experiment
from portal.api.schema import ROWS
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read


class ExperimentsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        operation_id="experiments_list",
        parameters=EXPERIMENTS.parameters(),
        responses=s.ExperimentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List visible experiments, newest first, in keyset pages without a total."""
        return Response(EXPERIMENTS.answer(self.actor, request.query_params))

    @extend_schema(request=s.NewExperimentSerializer, responses={201: s.ExperimentSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an experiment. 409 if the team has one of that name, also in the trash."""
        body = read(s.NewExperimentSerializer, request)
        team = self.team(body.pop("team", None))
        row = services.create_experiment(actor=self.actor, team=team, **body)
        return Response(self_of(row, self.actor), status=status.HTTP_201_CREATED)


class ExperimentView(OrgView):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    @extend_schema(responses=s.ExperimentSerializer)
    def get(self, request: Request, number: str) -> Response:
        """Get one experiment by its number."""
        return Response(self_of(find_experiment(self.actor, number), self.actor))

    @extend_schema(request=s.ChangeExperimentSerializer, responses=s.ExperimentSerializer)
    def patch(self, request: Request, number: str) -> Response:
        """Change name, description or tags."""
        row = find_experiment(self.actor, number)
        body = read(s.ChangeExperimentSerializer, request)
        if tags := body.pop("tags", None):
            row = services.set_experiment_tags(actor=self.actor, experiment=row, tags=tags)
        row = services.update_experiment(actor=self.actor, experiment=row, **body)
        return Response(self_of(row, self.actor))

    @extend_schema(request=None, responses={200: s.ExperimentSerializer})
    def delete(self, request: Request, number: str) -> Response:
        """Move an experiment and its runs to the trash, from which they can be restored."""
        row = find_experiment(self.actor, number, with_trash=True)
        row = services.delete_experiment(actor=self.actor, experiment=row)
        return Response(self_of(row, self.actor))


class RestoreExperimentView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=None, responses=s.ExperimentSerializer)
    def post(self, request: Request, number: str) -> Response:
        """Take an experiment and its runs out of the trash."""
        row = find_experiment(self.actor, number, with_trash=True)
        row = services.restore_experiment(actor=self.actor, experiment=row)
        return Response(self_of(row, self.actor))


class ExperimentRunsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="experiments_runs",
        parameters=[
            OpenApiParameter(name, str, description=text)
            for name, text in (
                ("filter", "MLflow's filter language, or words of the name."),
                ("state", "States separated by commas; `!` excludes one."),
                ("owner", "E-mail addresses or `me`, separated by commas; `!` excludes one."),
                ("show", "`archived` or `trash` instead of active runs."),
                ("sort", "A column such as `metrics.loss`, `params.lr` or `name`; `-` reverses."),
                ("cursor", "From `next` or `previous`."),
                ("limit", "1 to 200; default 50."),
            )
        ],
        responses={200: ROWS},
    )
    def get(self, request: Request, number: str) -> Response:
        """List the runs of an experiment, as its page does; newest first."""
        row, query = find_experiment(self.actor, number), request.query_params
        every, sort = Run.objects.filter(experiment=row, deleted_at=None), query.get("sort", "")
        keys = with_older(keys_of(every), every, [sort])
        view = runs_of(row, keys, show=query.get("show", ""), sort=sort)
        return Response(view.answer(self.actor, query))


def self_of(row: Experiment, actor: Any) -> dict[str, Any]:
    """Return an experiment for REST: that of the list, and the rest."""
    [item] = EXPERIMENTS.represent([row], actor)
    return {
        **item,
        "tags": row.tags,
        "updated_at": row.updated_at,
        "deleted_at": row.deleted_at,
    }
