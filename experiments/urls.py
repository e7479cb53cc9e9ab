"""Paths of the protocols of this app."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("mlflow/", include("experiments.mlflow.urls"))]
