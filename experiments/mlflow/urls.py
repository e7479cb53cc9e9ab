"""URLs below `/mlflow/`."""

from django.urls import path

from experiments.mlflow import (
    artifacts,
    experiments,
    logged_models,
    metrics,
    otlp,
    registered_models,
    runs,
    server,
    traces,
)
from experiments.mlflow.routes import serve

# Importing these registers their routes.
HANDLERS = (
    artifacts,
    experiments,
    logged_models,
    metrics,
    otlp,
    registered_models,
    runs,
    server,
    traces,
)
urlpatterns = [
    path("<str:org>/", serve, {"rest": ""}),
    path("<str:org>/<path:rest>", serve, name="mlflow"),
]
