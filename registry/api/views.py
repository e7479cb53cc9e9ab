"""REST: registered models, aliases and the trash."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from registry import selectors, services
from registry.api import serializers as s
from registry.lists import MODELS, TRASH
from registry.models import ModelVersion, RegisteredModel
from registry.representations import model_detail, model_rows
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read


class ModelsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(parameters=MODELS.parameters(), responses=s.ModelSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the models of your teams. Keyset pagination."""
        return Response(MODELS.answer(self.actor, request.query_params))

    @extend_schema(request=s.NewModelSerializer, responses={201: s.ModelDetailSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a model without versions."""
        body = read(s.NewModelSerializer, request)
        row = services.create_model(
            actor=self.actor, **{**body, "team": self.team(body["team"] or None)}
        )
        return Response(model_detail(row), status=status.HTTP_201_CREATED)


class ModelViewBase(OrgView):
    """Base of views of one model or version."""

    def model(self, team: str, model: str) -> RegisteredModel:
        return selectors.find_model(self.actor, team, model)

    def version(self, team: str, model: str, version: str) -> ModelVersion:
        return selectors.find_version(self.actor, self.model(team, model), version)


class ModelView(ModelViewBase):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    @extend_schema(responses=s.ModelDetailSerializer)
    def get(self, request: Request, team: str, model: str) -> Response:
        """Get a model with its card."""
        return Response(model_detail(self.model(team, model)))

    @extend_schema(request=s.ModelChangeSerializer, responses=s.ModelDetailSerializer)
    def patch(self, request: Request, team: str, model: str) -> Response:
        """Change name, model card, tags, or whether approval is required."""
        row = self.model(team, model)
        changes = read(s.ModelChangeSerializer, request)
        return Response(model_detail(services.update_model(actor=self.actor, model=row, **changes)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, team: str, model: str) -> Response:
        """Move a model with its versions to the trash."""
        services.delete_model(actor=self.actor, model=self.model(team, model))
        return Response(status=status.HTTP_204_NO_CONTENT)


class AliasView(ModelViewBase):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=s.AliasSerializer, responses=s.ModelSerializer)
    def put(self, request: Request, team: str, model: str, alias: str) -> Response:
        """Point an alias at a version, moving it from another one."""
        row = self.model(team, model)
        body = read(s.AliasSerializer, request)
        version = selectors.find_version(self.actor, row, body["version"])
        changed = services.set_alias(
            actor=self.actor, version=version, alias=alias, if_version=body.get("if_version")
        )
        return Response(model_rows([changed])[0])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, team: str, model: str, alias: str) -> Response:
        """Delete an alias; the version stays."""
        services.delete_alias(actor=self.actor, model=self.model(team, model), alias=alias)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TrashView(OrgView):
    permissions = {"GET": None}

    @extend_schema(parameters=TRASH.parameters(), responses=s.ModelSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the models in the trash, those deleted last first."""
        return Response(TRASH.answer(self.actor, request.query_params))


class TrashedModelView(OrgView):
    permissions = {"POST": None, "DELETE": None}

    @extend_schema(request=None, responses=s.ModelDetailSerializer)
    def post(self, request: Request, trashed: UUID) -> Response:
        """Restore a model with its versions."""
        row = services.restore_model(actor=self.actor, model=find_trashed(self.actor, trashed))
        return Response(model_detail(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, trashed: UUID) -> Response:
        """Delete a model permanently, with its versions."""
        services.purge_model(actor=self.actor, model=find_trashed(self.actor, trashed))
        return Response(status=status.HTTP_204_NO_CONTENT)


def find_trashed(actor: Any, pk: UUID) -> RegisteredModel:
    """Return a model in the trash. Raises NotFound."""
    row = selectors.visible_models(actor, is_deleted=True).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("This model is not in the trash."), code="no_model")
    return row


def act_on_approval(actor: Any, version: ModelVersion, do: str, note: str = "") -> ModelVersion:
    """Run one step of an approval by its name in forms and in the API. Raises InvalidInput."""
    match do:
        case "acknowledge":
            return services.acknowledge_pickles(actor=actor, version=version)
        case "request":
            return services.request_approval(actor=actor, version=version, note=note)
        case "withdraw" | "approve" | "reject":
            return services.decide_version(actor=actor, version=version, do=do, note=note)
    raise InvalidInput(Message("The form names nothing that can be done here."))
