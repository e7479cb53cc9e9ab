from __future__ import annotations

from django.urls import path

from registry.web import versions, views

_MODEL = "<slug:org>/models/<slug:team>/<str:model>"
urlpatterns = [
    path("<slug:org>/models", views.models, name="models"),
    path("<slug:org>/models/new", views.new_model, name="model-new"),
    path("<slug:org>/models/trash", views.trash, name="models-trash"),
    path(_MODEL, views.model, name="model"),
    path(f"{_MODEL}/upload", views.upload, name="model-upload"),
    path(f"{_MODEL}/versions/<str:version>", versions.version, name="model-version"),
    path(
        f"{_MODEL}/versions/<str:version>/files/<path:path>",
        versions.download,
        name="model-file",
    ),
]
