"""Paths that other programs ask for the state of the portal."""

from __future__ import annotations

from django.urls import path

from monitoring import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
