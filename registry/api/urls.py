from __future__ import annotations

from django.urls import path

from portal.api.schema import Tag
from registry.api import versions, views

_MODELS = "orgs/<slug:org>/models"
_MODEL = f"{_MODELS}/<slug:team>/<str:model>"
_VERSION = f"{_MODEL}/versions/<str:version>"
_TRASH = "orgs/<slug:org>/models-trash"
TAGS = (Tag("Models", 40, ("models", "models-trash")),)
urlpatterns = [
    path(_MODELS, views.ModelsView.as_view(), name="api-models"),
    path(_TRASH, views.TrashView.as_view(), name="api-models-trash"),
    path(
        f"{_TRASH}/<uuid:trashed>", views.TrashedModelView.as_view(), name="api-models-trash-entry"
    ),
    path(_MODEL, views.ModelView.as_view(), name="api-model"),
    path(f"{_MODEL}/aliases/<str:alias>", views.AliasView.as_view(), name="api-model-alias"),
    path(f"{_MODEL}/versions", versions.VersionsView.as_view(), name="api-model-versions"),
    path(_VERSION, versions.VersionView.as_view(), name="api-model-version"),
    path(f"{_VERSION}/finish", versions.FinishView.as_view(), name="api-model-finish"),
    path(f"{_VERSION}/files", versions.FilesView.as_view(), name="api-model-files"),
    path(f"{_VERSION}/files/<path:path>", versions.FileView.as_view(), name="api-model-file"),
    path(f"{_VERSION}/approval", versions.ApprovalView.as_view(), name="api-model-approval"),
    path(f"{_VERSION}/stage", versions.StageView.as_view(), name="api-model-stage"),
    path(f"{_VERSION}/promote", versions.PromotionView.as_view(), name="api-model-promote"),
]
