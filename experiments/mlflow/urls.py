"""URLs below `/mlflow/`."""

from django.urls import re_path

from experiments.mlflow import artifacts, experiments, logged_models, metrics, runs, server
from experiments.mlflow.routes import serve

# Importing these registers their routes.
HANDLERS = (artifacts, experiments, logged_models, metrics, runs, server)
urlpatterns = [re_path(r"(?s)^(?P<org>[^/]+)/(?P<rest>.*)\Z", serve, name="mlflow")]
